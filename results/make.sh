#!/bin/sh
# Makes everything in this folder: about eight hours on two cores. You can stop it at any time and
# start it again: csim does not repeat finished runs. It needs csim on the path, and CSIM_DATA set to
# the folder of the data sets.
#
#   CSIM_DATA=data sh results/make.sh
set -eu
cd "$(dirname "$0")/.."

seeds="--seed 0 --seed 1 --seed 2"
whole="--thin 1 --dataset mnist --dataset fashion-mnist --seed 0"
most=""  # all methods but random
for method in paper default least-sure ecsminer ecsminer-vectors echo-d echo-d-vectors senc-mas \
    senc-mas-vectors; do
    most="$most --method $method"
done

# The default preset on whole streams, with a small budget and with the paper's share of labels.
for case in "mnist 0.02 0.1741" "fashion-mnist 0.043 0.3439" "emnist-47 0.05 0.4029" \
    "cifar-10-grey 0.05 0.3991"; do
    set -- $case
    csim bench run default "$1" --budget "$2" $seeds
    csim bench run default "$1" --budget "$3" --seed 0
done

# Single-image questions on whole streams.
csim bench run least-sure mnist --seed 0
for case in "fashion-mnist 0.043" "emnist-47 0.05" "cifar-10-grey 0.05"; do
    set -- $case
    csim bench run least-sure "$1" --budget "$2" --seed 0
done

# Photographs are the hardest: twice the labels, and mirrored training images.
csim bench run default cifar-10-grey --budget 0.1 --seed 0
csim bench run default cifar-10-grey --budget 0.05 --seed 0 --set flip=true

# One convolution layer instead of two, on other data sets than Fashion-MNIST, with the seeds of the
# ablation.
for change in "" "--set conv_layers=1"; do
    csim bench run default cifar-10-grey --thin 5 --seed 100 --seed 101 --seed 102 $change
    csim bench run default emnist-47 --thin 5 --seed 100 $change
done

csim bench data-sets
csim bench reproduced
for table in stream novelty; do
    csim bench "$table" $seeds
    csim bench "$table" --r 0.5 $seeds $most
    csim bench "$table" $whole $most
done
csim bench over-stream --seed 0
csim bench label-curve $seeds --dataset mnist --dataset fashion-mnist --dataset cifar-10-grey
csim bench label-curve --dataset emnist-47 --seed 0
csim bench convolution $seeds
csim bench sensitivity --seed 0
csim bench metric $seeds --dataset mnist --dataset fashion-mnist
csim bench metric --dataset emnist-47 --seed 0
csim bench metric --dataset cifar-10-grey --seed 0
csim bench metric --split S1 --dataset mnist --dataset fashion-mnist --seed 0
csim bench embedding
csim bench cohesion $seeds
csim bench ablation
csim bench tuning
csim bench photos
csim bench photo-cost

csim bench closed-set
csim bench mining
csim bench beta
csim bench speed
csim bench durability
csim bench scaling  # as root
csim bench service
csim bench year
csim bench page
csim bench junk

csim bench report
