"use strict";
// The page of instances: two schedules beside each other.
(() => {
  const { by, read, write, element, options } = miglab;
  const form = by("instance-filters");
  if (!form) return;
  const { dataset, instance, a, b } = form.elements;

  let current = null; // the instance shown
  const show = () => {
    const { colours } = datasets.get(dataset.value);
    miglab.show(current, [a, b].map((select) => current.plans.find((p) => p.algorithm === select.value)), colours);
    const n = current.tasks.length;
    const bound = current.bound > 0 ? `, ${current.proven ? "proven optimum" : "certified lower bound"} ${current.boundText} s` : "";
    by("instance-facts").textContent = `${n} tasks on ${current.gpus > 1 ? current.gpus + " × " : ""}${current.gpu}, ${current.model} reconfiguration${bound}`;
    write(Object.fromEntries(new FormData(form)));
  };

  // Datasets are scripts that call loaded: pages on disk cannot fetch.
  const datasets = new Map();
  let wanted = null; // what the address asks for, until its dataset is there
  miglab.loaded = (data) => {
    datasets.set(data.dataset, data);
    if (dataset.value === data.dataset) chooseInstance();
  };
  const chooseDataset = () => {
    if (datasets.has(dataset.value)) {
      chooseInstance();
      return;
    }
    const script = element("script", { src: dataset.selectedOptions[0].dataset.script });
    script.addEventListener("error", () => {
      by("instance-facts").textContent = `${script.getAttribute("src")} cannot be read`;
    });
    by("charts").replaceChildren();
    document.head.append(script);
  };
  const chooseInstance = () => {
    const { instances } = datasets.get(dataset.value);
    options(instance, instances.map((in_, i) => [`${i}`, `${in_.number}${instances.some((o, j) => j !== i && o.number === in_.number) ? `, ${in_.gpu}, ${in_.model}` : ""}`]), wanted?.get("instance"));
    current = instances[Number(instance.value)];
    const names = current.plans.map((p) => p.algorithm);
    options(a, names, wanted?.get("a"));
    if (!options(b, names, wanted ? wanted.get("b") : b.value)) b.selectedIndex = Math.min(1, names.length - 1);
    wanted = null;
    show();
  };

  form.addEventListener("submit", (e) => e.preventDefault());
  form.addEventListener("input", (e) => {
    if (e.target === dataset) chooseDataset();
    else if (e.target === instance) chooseInstance();
    else show();
  });
  const fromAddress = () => {
    wanted = read();
    dataset.value = wanted.get("dataset") ?? "";
    if (dataset.selectedIndex < 0) dataset.selectedIndex = 0;
    chooseDataset();
  };
  addEventListener("hashchange", fromAddress);
  fromAddress();
})();
