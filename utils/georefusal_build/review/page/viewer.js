// An image that is zoomed and moved by wheel, buttons, fingers and keys.

const LARGEST = 40; // screen pixels per image pixel
const PIXELS_FROM = 3; // from here on single pixels are shown as squares

export class Viewer {
  constructor(frame, image, size) {
    Object.assign(this, { frame, image, size, scale: 1, x: 0, y: 0, whole: true });
    this.fingers = new Map();
    image.addEventListener("load", () => this.fit());
    new ResizeObserver(() => (this.whole ? this.fit() : this.draw())).observe(frame);
    frame.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    frame.addEventListener("keydown", (event) => this.onKey(event));
    frame.addEventListener("dblclick", (event) => this.zoom(2, ...this.at(event)));
    frame.addEventListener("pointerdown", (event) => this.onDown(event));
    frame.addEventListener("pointermove", (event) => this.onMove(event));
    for (const end of ["pointerup", "pointercancel"]) {
      frame.addEventListener(end, (event) => this.fingers.delete(event.pointerId));
    }
  }

  get fitting() {
    const { naturalWidth: width, naturalHeight: height } = this.image;
    return width ? Math.min(this.frame.clientWidth / width, this.frame.clientHeight / height) : 1;
  }

  fit() {
    this.whole = true;
    this.scale = this.fitting;
    this.draw();
  }

  one() {
    this.zoom(1 / this.scale);
  }

  // x, y: the point of the frame that stays where it is
  zoom(factor, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2) {
    const least = Math.min(this.fitting, 1);
    const scale = Math.max(least, Math.min(LARGEST, this.scale * factor));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.whole = Math.abs(scale - this.fitting) < 1e-9;
    this.draw();
  }

  move(dx, dy) {
    this.x += dx;
    this.y += dy;
    this.draw();
  }

  draw() {
    const kept = (offset, image, frame) =>
      image <= frame ? (frame - image) / 2 : Math.max(frame - image, Math.min(0, offset));
    this.x = kept(this.x, this.image.naturalWidth * this.scale, this.frame.clientWidth);
    this.y = kept(this.y, this.image.naturalHeight * this.scale, this.frame.clientHeight);
    this.image.style.transform = `translate(${this.x}px, ${this.y}px) scale(${this.scale})`;
    this.image.classList.toggle("squares", this.scale >= PIXELS_FROM);
    // at full view a finger scrolls the page; once zoomed in it moves the image
    this.frame.classList.toggle("zoomed", !this.whole);
    this.size.textContent = `${Math.round(this.scale * 100)} %`;
  }

  at(event) {
    const box = this.frame.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  onWheel(event) {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 30 : 1;
    this.zoom(Math.exp(-event.deltaY * lines * 0.002), ...this.at(event));
  }

  onKey(event) {
    const steps = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key in steps && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.move(...steps[event.key]);
    }
  }

  onDown(event) {
    if (event.button === 0) {
      this.fingers.set(event.pointerId, this.at(event));
      this.frame.setPointerCapture(event.pointerId);
    }
  }

  onMove(event) {
    if (!this.fingers.has(event.pointerId)) return;
    const before = [...this.fingers.values()];
    this.fingers.set(event.pointerId, this.at(event));
    const after = [...this.fingers.values()];
    const middle = (points) => [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
    const [from, to] = [middle(before), middle(after)];
    this.move(to[0] - from[0], to[1] - from[1]);
    if (after.length === 2) {
      const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
      this.zoom(apart(after) / apart(before), ...to);
    }
  }
}
