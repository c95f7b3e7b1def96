"""What covers, touches or moves what on a page, in JavaScript."""

IN_CORNER = """() => {
  const seen = [], step = 15 * Math.min(innerWidth / 1920, innerHeight / 1080);
  const high = window.hall?.box.offsetHeight ?? 0;
  for (let right = 1; right < 16; right++) {
    for (let below = 1; below < high / 15; below++) {
      const x = innerWidth - right * step, y = innerHeight - below * step;
      const node = document.elementFromPoint(x, y), letters = document.caretPositionFromPoint(x, y)?.offsetNode;
      const range = document.createRange();
      if (letters?.nodeType === Node.TEXT_NODE) range.selectNodeContents(letters);
      const isHit = ({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom;
      const isPart = node.matches("canvas, img, button, input, textarea, svg *");
      if (isPart || [...range.getClientRects()].some(isHit)) seen.push([x, y]);
    }
  }
  return seen;
}"""
"""Where in the lower right corner, as high as what stands there for the hall, something of the page is seen."""
OVERLAPS = """() => {
  const lines = [], letters = document.createRange();
  const isSeen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const gather = (root) => {
    for (const node of root.querySelectorAll(":not(svg *, .katex *, style, script, .st-key-lecture_screens *)")) {
      if (node.shadowRoot) gather(node.shadowRoot);
      if (!isSeen(node)) continue;
      if (node.matches(".bars i, .bar button")) lines.push([node, node.title || "a bar", node.getBoundingClientRect()]);
      for (const child of node.childNodes) {
        if (child.nodeType !== Node.TEXT_NODE || !child.data.trim()) continue;
        letters.selectNodeContents(child);
        const end = getComputedStyle(node).overflowX === "visible" ? Infinity : node.getBoundingClientRect().right;
        for (const { left, right, top, bottom, width, height } of letters.getClientRects())
          if (width > 2) lines.push([node, child.data, { left, right: Math.min(right, end), top, bottom, height }]);
      }
    }
  };
  gather(document.querySelector("[data-testid=stMain]"));
  gather(document.querySelector("#lecture").shadowRoot);
  const common = (one, other, from, to) => Math.min(one[to], other[to]) - Math.max(one[from], other[from]);
  const isOver = (one, other) => common(one, other, "left", "right") > 2
    && common(one, other, "top", "bottom") > Math.min(one.height, other.height) / 2;
  return lines.flatMap(([node, text, box], place) => lines.slice(place + 1)
    .filter(([other, , over]) => other !== node && isOver(box, over)).map(([, words]) => `${text} / ${words}`));
}"""
"""Lines of words, bars, and buttons of the lecture that lie over others; of charts and formulas the browser tells no
letters' ends."""
WATCH_SHIFTS = """() => {
  if (window.shifts) return;
  window.shifts = [];
  const opensSidebar = ({ previousRect, currentRect }) => currentRect.x - previousRect.x === 300;
  new PerformanceObserver((list) => {
    for (const { sources, value, hadRecentInput } of list.getEntries()) {
      const texts = sources.map(({ node }) => (node?.innerText ?? "").slice(0, 40));
      if (!hadRecentInput && !sources.some(opensSidebar)) window.shifts.push([value, ...texts]);
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""
"""Collects the layout shifts while a page opens, as [score, *texts], but for that of Streamlit's sidebar, once open."""
UNHEARD = """() => {
  const nodes = [], faults = [];
  const walk = (root) => root.querySelectorAll("*").forEach((node) => {
    nodes.push(node);
    if (node.shadowRoot) walk(node.shadowRoot);
  });
  walk(document);
  const plain = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}]/gu, "");
  let level = 1;
  for (const node of nodes.filter((one) => one.checkVisibility())) {
    const label = node.getAttribute("aria-label"), isHidden = node.closest("[aria-hidden=true]");
    const said = `${node.tagName} ${label ?? node.innerText}`;
    if (/^H[1-6]$/.test(node.tagName) && node.getRootNode() !== document.querySelector("#hall")?.shadowRoot) {
      const own = Number(node.tagName[1]);
      if (own > level + 1) faults.push(`${said} follows h${level}`);
      level = own;
    }
    if (node.tagName === "CANVAS" && !label && !isHidden) faults.push(`a canvas without a name: ${node.className}`);
    if (node.role === "img" && node.tabIndex >= 0) faults.push(`an image that has the focus: ${said}`);
    const isOurs = node.getRootNode() !== document && node.matches("button, [role=button]");
    if (!isOurs || !label) continue;
    const texts = [node, ...node.querySelectorAll("*")].flatMap(({ childNodes }) => [...childNodes]);
    const words = texts.filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => plain(data));
    if (!words.every((word) => plain(label).includes(word))) faults.push(`${said} is not what is read: ${words}`);
  }
  return faults;
}"""
"""What who hears a page would not understand."""
FOCUSED = """() => {
  let node = document.activeElement;
  while (node.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  const isIn = (testId) => Boolean(node.closest(`[data-testid=${testId}]`));
  const isInside = isIn("stMain") || Boolean(node.getRootNode().host?.closest("[data-testid=stMain]"));
  return {
    isInside, isLast: isIn("stTab") || isIn("stPageLink"), isVisible: node.getClientRects().length > 0,
    isTool: isIn("stElementToolbar"), isLinkToHeading: isIn("stHeaderActionElements"),
    name: node.ariaLabel || node.innerText || node.labels?.[0]?.innerText || node.title,
  };
}"""
"""Describes the element that has the focus."""
TOUCHING_TEXTS = """() => {
  const lineBoxes = [], range = document.createRange();
  const gather = (root) => {
    for (const node of root.querySelectorAll(":not(.katex *, style, script, code *, [transform*=rotate])")) {
      if (node.shadowRoot) gather(node.shadowRoot);
      if (!node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      for (const child of node.childNodes) {
        if (child.nodeType !== Node.TEXT_NODE || !child.data.trim()) continue;
        range.selectNodeContents(child);
        const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
        boxes.forEach((box, line) => {
          lineBoxes.push([line === 0 && child.data, line === boxes.length - 1 && child.data, box]);
        });
      }
    }
  };
  gather(document.querySelector("[data-testid=stMain]"));
  return lineBoxes.flatMap(([, text, a]) => lineBoxes.filter(([next, , b]) => {
    const gap = b.left - a.right, overlap = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    const areWords = /[\\p{L}\\p{N}%]$/u.test(text || "") && /^[\\p{L}\\p{N}−]/u.test(next || "");
    return areWords && Math.abs(gap) < 1.2 && overlap > Math.min(a.height, b.height) / 2;
  }).map(([next]) => `${text} / ${next}`));
}"""
"""Finds pairs of words or numbers in neighbouring elements that have no gap between them."""
FAINT = """() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const above = (node) => node.parentElement ?? node.getRootNode().host;
  const partsOf = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, opacity] = pen.getImageData(0, 0, 1, 1).data;
    return [[r, g, b], opacity / 255];
  };
  const over = ([top, share], below) => below.map((part, at) => part + share * (top[at] - part));
  const lightOf = (colour) => colour.map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0.05);
  const paperOf = (node) => {
    if (!node) return partsOf(getComputedStyle(document.querySelector(".stApp")).backgroundColor)[0];
    const paper = partsOf(getComputedStyle(node).backgroundColor);
    return paper[1] === 1 ? paper[0] : over(paper, paperOf(above(node)));
  };
  const aside = "svg, .katex, [disabled], [aria-disabled=true], [data-testid=stSlider], style, script, [inert]";
  const isPlain = (node) => !node.closest(aside) && node.checkVisibility();
  const hasText = ({ childNodes }) =>
    [...childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  const walk = (root) => [...root.querySelectorAll("*")].flatMap((node) => [node, ...walkIn(node)]);
  const walkIn = ({ shadowRoot }) => (shadowRoot ? walk(shadowRoot) : []);
  return walk(document).filter((node) => isPlain(node) && hasText(node)).flatMap((node) => {
    const { color, fontSize, fontWeight } = getComputedStyle(node), paper = paperOf(node);
    let share = 1;
    for (let each = node; each; each = above(each)) share *= getComputedStyle(each).opacity;
    const [letters, own] = partsOf(color);
    const lights = [over([letters, own * share], paper), paper].map(lightOf);
    const least = parseFloat(fontSize) >= (fontWeight >= 700 ? 18.6 : 24) ? 3 : 4.5;
    const ratio = Math.max(...lights) / Math.min(...lights);
    return share > 0.1 && ratio < least - 0.01 ? [`${node.textContent.slice(0, 40)}: ${ratio.toFixed(2)}`] : [];
  });
}"""
"""Texts whose contrast is too low for WCAG 2.2, AA, where they stand on plain paper."""
UNREACHED = """() => [...document.querySelectorAll("[data-testid=stMain] *")].filter((node) => {
  const scrolls = node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(node).overflowX);
  const isReached = node.tabIndex >= 0 || node.querySelector("button, input, a, [tabindex='0']");
  return scrolls && !isReached && !node.closest(".katex");
}).map((node) => node.className)"""
"""What is scrolled sideways, and not by keys."""
