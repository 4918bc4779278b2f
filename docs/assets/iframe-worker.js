// The search runs in a worker, which browsers refuse to pages that are opened from disk. There a hidden frame does it.
// Zensical would load such a script from elsewhere, unless one whose name contains "iframe-worker" is there.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html><title>search</title>";
      this.inside = new Promise((resolve) => {
        this.frame.onload = () => {
          const inside = this.frame.contentWindow;
          inside.postMessage = (data) => this.onmessage && this.onmessage({ data });
          const script = inside.document.createElement("script");
          script.src = new URL(address, location.href);
          script.onload = () => resolve(inside);
          script.onerror = (event) => this.onerror && this.onerror(event);
          inside.document.head.append(script);
        };
      });
      document.body.append(this.frame);
    }
    postMessage(data) {
      const copy = structuredClone(data);
      this.inside.then((inside) => inside.onmessage({ data: copy }));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
