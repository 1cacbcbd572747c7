/**
 * Ends one request before its answer: at its time limit, or with the run. Not an AbortController, whose signal has a shape of its own, so
 * that V8 cannot specialize what uses it: it took a twentieth of a bulk write. It is made where a connection is opened.
 */
export class Cancellation {
  #cancelled: { readonly reason: unknown } | undefined;
  #controller: AbortController | undefined;
  #stop: ((reason: unknown) => void) | undefined;

  /** The first reason counts. */
  cancel(reason: unknown): void {
    if (this.#cancelled) return;
    this.#cancelled = { reason };
    this.#controller?.abort(reason);
    this.#stop?.(reason);
  }

  /** `stop` gets the reason, at once where the request is cancelled already. Only the last one that is given here counts. */
  whenCancelled(stop: (reason: unknown) => void): void {
    this.#stop = stop;
    if (this.#cancelled) stop(this.#cancelled.reason);
  }

  /** What to throw for a request that failed with `cause`. */
  reasonOr(cause: unknown): unknown {
    return this.#cancelled ? this.#cancelled.reason : cause;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#cancelled) this.#controller.abort(this.#cancelled.reason);
    }
    return this.#controller.signal;
  }
}
