"""Adam against torch's own, to the last bit."""

import torch

from csim.embed.adam import Adam


def weights():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(shape, generator=generator).requires_grad_() for shape in ((5, 3), (7,))]


def descend(parameters, step, zero_grad):
    for taken in range(20):
        zero_grad()
        loss = sum(((tensor - index) ** 4).sum() for index, tensor in enumerate(parameters))
        loss.backward()
        step(0.1 * (1 - taken / 20))


def test_the_weights_are_those_of_torch_to_the_last_bit():
    ours = weights()
    adam = Adam(ours)
    descend(ours, adam.step, adam.zero_grad)
    theirs = weights()
    reference = torch.optim.Adam(theirs, fused=True)

    def step(rate):
        reference.param_groups[0]["lr"] = rate
        reference.step()

    descend(theirs, step, reference.zero_grad)
    assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
    assert not torch.equal(ours[0], weights()[0])
