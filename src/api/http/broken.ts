/** No connection was made, so nothing was sent; `cause` says why. */
export class Unconnected extends Error {
  constructor(cause: unknown) {
    super('no connection', { cause });
  }
}

/** A proxy answered CONNECT with this status. */
export class ProxyRefusal extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the proxy answered CONNECT with ${status}`);
    this.status = status;
  }
}

/** The body exceeded the limit, compressed or not. */
export class TooLarge extends Error {}

/** The time limit of the request passed. */
export class TimedOut extends Error {}
