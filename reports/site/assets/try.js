"use strict";
// The page that schedules. A worker runs the program, so that the page does not freeze; it answers one
// request after the other. Pages on disk cannot fetch, so the program comes as a script.
(() => {
  const { by, read, write, element, options, program } = miglab;
  const form = by("try");
  const { example, gpu, count, model, tasks } = form.elements;
  const colours = JSON.parse(form.dataset.colours);
  const usual = "far,miso,treedp"; // the schedulers that are chosen at first
  const patience = 30; // seconds that an answer may take

  // boot runs in the worker: its first message is the program, which takes the others.
  const boot = () => {
    onmessage = async ({ data }) => {
      try {
        const text = atob(data);
        const packed = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
        const bytes = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
        const go = new Go();
        const { instance } = await WebAssembly.instantiate(await bytes, go.importObject);
        await go.run(instance);
        throw new Error("it ended");
      } catch (e) {
        postMessage(JSON.stringify({ error: `the program cannot run: ${e.message}`, ended: true }));
      }
    };
  };
  const source = URL.createObjectURL(new Blob([`(${program.start})();(${boot})();`], { type: "text/javascript" }));

  let worker = null;
  let timer = 0; // of the message that the worker has to answer; 0 for none
  const stop = () => {
    clearTimeout(timer);
    timer = 0;
    worker?.terminate();
    worker = null;
  };
  // send returns the worker's next message; never, if the worker is stopped before.
  const send = (message) => new Promise((resolve) => {
    worker.onmessage = ({ data }) => {
      clearTimeout(timer);
      timer = 0;
      const answer = JSON.parse(data);
      if (answer.ended) stop();
      resolve(answer);
    };
    timer = setTimeout(() => {
      stop();
      resolve({ error: `no answer after ${patience} s; the command line waits as long as it takes` });
    }, patience * 1000);
    worker.postMessage(message);
  });
  const start = () => {
    worker = new Worker(source);
    return send(program.packed);
  };
  const ask = async (want, problem) => {
    const { error } = worker ? {} : await start();
    return error ? { error } : send(JSON.stringify({ want, ...problem }));
  };

  const fixed = (x) => x.toFixed(3);
  const above = (makespan, bound) => fixed(Math.abs((makespan / bound - 1) * 100)); // rounding may leave it below 0
  const isOptimal = (makespan, bound) => Math.abs(makespan / bound - 1) < 1e-9; // as on the page of instances
  const say = (text, wrong) => {
    by("try-status").textContent = text;
    by("try-status").classList.toggle("wrong", Boolean(wrong));
  };

  // row shows what there is of an algorithm: a plan, an error, or nothing yet.
  const row = ({ algorithm, plan, error }, { area, bound }, best) => {
    const cells = [element("th", { scope: "row" }, algorithm)];
    if (plan) {
      const file = "data:application/json," + encodeURIComponent(plan.file);
      const name = `schedule-${algorithm.replace(/[^\w-]+/g, "-")}.json`;
      cells.push(...[fixed(plan.makespan), above(plan.makespan, area), bound ? above(plan.makespan, bound) : "–"].map((text) => element("td", { class: "num" }, text)),
        element("td", {}, "valid"), element("td", {}, element("a", { href: file, download: name, "aria-label": `JSON: the schedule of ${algorithm}` }, "JSON")));
    } else cells.push(element("td", { colspan: "5", class: error ? "wrong" : "" }, error ?? "…"));
    return element("tr", plan && plan.makespan === best ? { class: "best" } : {}, ...cells);
  };

  const list = (facts, results) => {
    const best = Math.min(...results.filter((r) => r.plan).map((r) => r.plan.makespan));
    by("try-rows").replaceChildren(...results.map((r) => row(r, facts, best)));
    by("try-results").hidden = false;
    return best;
  };
  const draw = (problem, facts, results) => {
    const best = list(facts, results);
    const { bound = 0 } = facts;
    const shown = { ...facts, gpus: problem.count, bound, boundText: fixed(bound), proven: isOptimal(best, bound) };
    const plans = results.filter((r) => r.plan).map(({ algorithm, plan }) => ({
      ...plan, algorithm, makespanText: fixed(plan.makespan), utilisation: (plan.utilisation * 100).toFixed(1), gap: bound ? above(plan.makespan, bound) : "–",
    }));
    miglab.show(shown, plans, colours);
    return best;
  };

  const conclude = (results, facts, best) => {
    const first = results.filter((r) => r.plan?.makespan === best).map((r) => r.algorithm);
    const proof = facts.bound ? `The certified bound is ${fixed(facts.bound)} s (proof: ${facts.proof}, verified exactly), and the referee has checked every schedule.` : "";
    by("try-bounds").textContent = `The area bound is ${fixed(facts.area)} s. ${proof}`;
    const names = first.length > 1 ? `${first.slice(0, -1).join(", ")} and ${first.at(-1)} end` : `${first[0]} ends`;
    const { bound } = facts;
    if (first.length === 0) say(results.length === 0 ? "Choose a scheduler." : "No scheduler has a schedule.", true);
    else if (!bound) say(`${names} first, after ${fixed(best)} s. There is no certified bound: ${facts.error}.`);
    else if (isOptimal(best, bound)) say(`${names} first, after ${fixed(best)} s. No schedule ends earlier: the certified bound is as high.`);
    else if (best < bound) say(`${names} after ${best} s, before the certified bound of ${bound} s: one of them is wrong.`, true);
    else say(`${names} first, after ${fixed(best)} s: ${above(best, bound)} % above the certified bound of ${fixed(bound)} s, which no schedule can beat.`);
  };

  let runs = 0;
  const run = async () => {
    const now = ++runs;
    if (timer) stop(); // what it computes is not wanted any more
    const algorithms = new FormData(form).getAll("algorithm");
    const problem = { gpu: gpu.value, count: Number(count.value), model: model.value, tasks: tasks.value };
    write({ algorithms: algorithms.join(), ...problem });
    by("try-results").hidden = true;
    by("charts").replaceChildren();
    say("…");
    const facts = await ask("problem", problem);
    if (now !== runs) return;
    if (facts.error) {
      say(facts.error, true);
      return;
    }
    const results = algorithms.map((algorithm) => ({ algorithm }));
    for (const r of results) {
      say(`${r.algorithm} …`);
      const answer = await ask(r.algorithm, problem);
      if (now !== runs) return;
      r[answer.error ? "error" : "plan"] = answer.error ?? answer;
      list(facts, results);
    }
    draw(problem, facts, results);
    say("certified bound …");
    Object.assign(facts, await ask("bound", problem));
    if (now === runs) conclude(results, facts, draw(problem, facts, results));
  };

  // choose sets a field. What the program does not know it refuses itself.
  const choose = (select, value) => {
    if (![...select.options].some((o) => o.value === value)) select.append(element("option", {}, value));
    select.value = value;
  };
  const offer = (algorithms, known) => {
    const others = algorithms.filter((name) => !known.some((k) => k.name === name)).map((name) => ({ name, summary: "" }));
    by("try-algorithms").replaceChildren(...[...known, ...others].map(({ name, summary }) => {
      const box = element("input", { type: "checkbox", name: "algorithm", value: name });
      box.checked = algorithms.includes(name);
      return element("label", { class: "switch" }, box, element("span", {}, element("strong", {}, name), summary && ` ${summary}`));
    }));
  };
  const setExample = (option) => {
    option.selected = true;
    if (option.value === "") return;
    for (const field of [gpu, count, model]) choose(field, option.dataset[field.name]);
    tasks.value = option.dataset.tasks;
  };
  const isExample = (option) => option.value !== "" && option.dataset.tasks === tasks.value;

  const begin = async () => {
    say("The schedulers are loading …");
    const welcome = await start();
    if (welcome.error) {
      say(welcome.error, true);
      return;
    }
    options(gpu, welcome.gpus.map((g) => g.name));
    const header = () => "task," + welcome.gpus.find((g) => g.name === gpu.value)?.sizes.map((s) => "t" + s);
    const fromAddress = () => {
      const wanted = read();
      offer((wanted.get("algorithms") ?? usual).split(",").filter(Boolean), welcome.algorithms);
      if (wanted.has("tasks")) {
        tasks.value = wanted.get("tasks");
        for (const field of [gpu, count, model]) choose(field, wanted.get(field.name) ?? field.options[0].value);
        example.value = [...example.options].find(isExample)?.value ?? "";
      } else if (example.options.length > 1) setExample(example.options[1]);
      else {
        say(`Write tasks below the header ${header()} and choose Schedule.`);
        return;
      }
      run();
    };
    form.addEventListener("submit", (e) => {
      e.preventDefault();
      run();
    });
    form.addEventListener("change", ({ target }) => {
      const [chosen] = example.selectedOptions;
      const fits = (option) => option.dataset.tasks?.startsWith(header() + "\n");
      if (target === example) setExample(chosen);
      else if (!isExample(chosen)) example.value = "";
      else if (!fits(chosen)) {
        // The tasks of an example give way to some that have the columns of the GPU.
        const other = [...example.options].find(fits) ?? chosen;
        other.selected = true;
        tasks.value = other.dataset.tasks;
      }
      run();
    });
    addEventListener("hashchange", fromAddress);
    fromAddress();
  };
  begin();
})();
