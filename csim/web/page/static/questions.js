// The question view: keys, the next question at once, undo.
"use strict";

(() => {
  const {
    byId, connection, fitPictures, makeOneStop, moveInGrid, onFigures, pause, refresher, send,
    tickTile, toast,
  } = window.csim;
  const labeller = document.body.dataset.labeller;
  const stage = byId("stage");
  const busy = new Set(); // questions whose answers are on their way
  const onTheWay = new Set();
  const answered = JSON.parse(sessionStorage.getItem("csim-answered") || "[]");
  const showTaught = refresher(byId("taught"), "/questions/taught", 700);
  let prefetched = null;

  const form = () => stage.querySelector("form.question");
  const currentId = () => Number(form()?.dataset.id);
  const tiles = () => [...stage.querySelectorAll(".grid input")];

  async function load(wanted) {
    const body = new URLSearchParams();
    if (wanted) body.set("wanted", wanted);
    for (const id of [...busy, currentId()]) if (id && id !== wanted) body.append("besides", id);
    for (;;) {
      try {
        const response = await fetch("/questions/next", { method: "POST", body });
        if (response.ok) {
          const holder = document.createElement("div");
          holder.innerHTML = await response.text();
          for (const image of holder.querySelectorAll("img")) {
            if (!image.closest("details")) image.loading = "eager"; // it is there when it is shown
          }
          return holder.firstElementChild;
        }
        if (response.status < 500 && response.status !== 429) location.reload();
      } catch {
        connection("No connection. csim tries again by itself.");
      }
      await pause(1000);
    }
  }

  function prefetch() {
    prefetched = load();
  }

  function show(element, isQuiet = false) {
    stage.replaceChildren(element);
    fitPictures(stage);
    prepare();
    if (!isQuiet) {
      stage.querySelector("h1")?.focus({ preventScroll: true });
      scrollTo({ top: 0 });
    }
    document.title = form() ? `Question ${currentId()} · csim` : "Questions · csim";
  }

  function prepare() {
    makeOneStop(tiles());
    const undo = stage.querySelector('[data-act="undo"]');
    if (undo) undo.disabled = !answered.length;
  }

  async function advance() {
    let element = await (prefetched ?? load());
    if (!element.matches("form")) {
      await Promise.allSettled(onTheWay); // an answer can open questions
      element = await load();
    }
    prefetched = null;
    show(element);
    if (form()) prefetch();
  }

  function remember(id) {
    answered.push(id);
    sessionStorage.setItem("csim-answered", JSON.stringify(answered.slice(-100)));
  }

  /** Send an answer in the background and show the next question at once. */
  async function answer(act, body, said, isNewClass = false) {
    const id = currentId();
    if (!id || !form().dataset.act || busy.has(id)) return;
    const out = tiles().filter((tile) => tile.checked).map((tile) => tile.value);
    if (act === "answer" && out.length) return answerRest(id, out, body, said);
    busy.add(id);
    remember(id);
    const sent = send(`/v1/questions/${id}/${act}`, { ...body, labeller });
    toast(said);
    const settled = settle(id, sent, isNewClass);
    onTheWay.add(settled);
    settled.then(() => onTheWay.delete(settled));
    await advance();
  }

  async function settle(id, sent, isNewClass) {
    try {
      await sent;
      if (isNewClass) showNewClass();
    } catch (error) {
      const index = answered.indexOf(id);
      if (index >= 0) answered.splice(index, 1);
      toast(`Question ${id}: ${error.message}`, true);
    } finally {
      busy.delete(id);
      showTaught();
    }
  }

  /** Offer a class that did not exist when the question on the screen was fetched. */
  async function showNewClass() {
    const id = currentId();
    if (!id) return;
    prefetch();
    const fresh = (await load(id)).querySelector(".other-classes");
    const shown = stage.querySelector(".other-classes");
    if (fresh && id === currentId() && !shown.contains(document.activeElement)) {
      shown.replaceWith(fresh);
    }
  }

  /** Take images out of the group, name the rest, and show what was taken out. */
  async function answerRest(id, out, body, said) {
    if (out.length === tiles().length) {
      return toast("Some images of the group must stay. Put one back with x.", true);
    }
    await during(id, async () => {
      const taken = await send(`/v1/questions/${id}/take-out`, { images: out, labeller });
      remember(id);
      const [rest, others] = taken.questions;
      if (rest) {
        await send(`/v1/questions/${rest}/answer`, { ...body, labeller });
        remember(rest);
        toast(said);
      }
      await showOne(others);
    });
  }

  async function split() {
    const id = currentId();
    if (!id || busy.has(id)) return;
    if (tiles().length < 2) return toast("The group has one image only.", true);
    await during(id, async () => {
      const done = await send(`/v1/questions/${id}/split`, { labeller });
      remember(id);
      toast("Split: each part is a question now");
      await showOne(done.questions[0]);
    });
  }

  async function undo() {
    const id = answered.pop();
    if (!id) return toast("You have not answered a question yet.", true);
    sessionStorage.setItem("csim-answered", JSON.stringify(answered));
    await during(id, async () => {
      await send(`/v1/questions/${id}/undo`, { labeller });
      await showOne(id);
      toast(`Question ${id} is open again`);
    });
  }

  /** Do something with a question that the page must wait for; say so if it is refused. */
  async function during(id, act) {
    busy.add(id);
    try {
      await act();
    } catch (error) {
      toast(error.message, true);
    } finally {
      busy.delete(id);
      showTaught();
    }
  }

  /** Show a certain question; the next one, if the engine runs elsewhere and has made none yet. */
  async function showOne(id) {
    if (!id) return advance();
    show(await load(id));
    prefetch(); // what was fetched before may be a part of a split that is no more
  }

  function choose(number) {
    const guess = stage.querySelector(`[data-guess="${number}"]`);
    if (guess) guess.click();
  }

  function typeName(text = "") {
    const box = byId("name");
    if (!box || box.disabled) return;
    box.value = text;
    box.focus();
  }

  function help() {
    byId("help").showModal();
  }

  const acts = {
    skip: () => answer("skip", {}, "Skipped"),
    junk: () =>
      form()?.dataset.act === "correct"
        ? answer("correct", { junk: true }, "Junk")
        : answer("junk", {}, "Junk"),
    split,
    undo,
    help,
  };
  const keys = { s: split, k: acts.skip, e: acts.junk, u: undo, x: () => tickTile(tiles()), "?": help };

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
    if (event.key === "Escape" && target.id === "name") {
      target.value = "";
      stage.querySelector("h1")?.focus();
      return;
    }
    const isTile = target.matches?.('.grid input[type="checkbox"]');
    if (target.matches?.("input, select, textarea") && !isTile) return;
    let act = keys[event.key];
    if (event.key.startsWith("Arrow")) act = () => moveInGrid(tiles(), event.key);
    else if (event.key === "/") act = () => typeName();
    else if (event.key === "Enter" && !target.matches?.("a, button, summary")) act = () => choose(1);
    else if (/^[0-9]$/.test(event.key)) {
      const hasNumbers = form()?.dataset.numbers === "true";
      act = hasNumbers ? () => typeName(event.key) : () => choose(event.key);
    }
    if (!act || event.repeat && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    act();
  });

  stage.addEventListener("submit", (event) => {
    const submitter = event.submitter;
    const act = submitter?.dataset.act;
    if (submitter?.hasAttribute("formaction") && !act) return;
    event.preventDefault();
    if (act) return acts[act]();
    if (submitter?.name === "class_id") {
      const name = submitter.querySelector("bdi").textContent;
      return answer(form().dataset.act, { class_id: Number(submitter.value) }, `Named ${name}`);
    }
    const name = byId("name").value.trim();
    if (!name) return typeName();
    const isNewClass = ![...byId("names").options].some((option) => option.value === name);
    if (isNewClass) byId("names").append(new Option(name, name));
    answer(form().dataset.act, { name }, `Named ${name}`, isNewClass);
  });
  stage.addEventListener("click", (event) => {
    const button = event.target.closest('button[type="button"][data-act]');
    if (button) acts[button.dataset.act]();
  });

  let step = null;
  onFigures.push((figures) => {
    if (step !== null && step !== figures.step) showTaught();
    step = figures.step;
    if (!form() && figures.open > 0 && !prefetched) {
      prefetched = load();
      prefetched.then((element) => {
        prefetched = null;
        show(element, !element.matches("form"));
        if (form()) prefetch();
      });
    }
  });
  setInterval(() => {
    const id = currentId();
    if (id && form().dataset.act === "answer") {
      const body = JSON.stringify({ labeller });
      const headers = { "Content-Type": "application/json" };
      fetch(`/v1/questions/${id}/lease`, { method: "POST", headers, body }).catch(() => {});
    }
  }, 120000);

  prepare();
  if (form()) prefetch();
})();
