/**
 * Timers of so many ms and more are polls, retries, limits and what a user is given time for; shorter ones belong to how
 * a page is drawn.
 */
const shortestWait = 1_000
/** How much faster time passes while the page hurries. */
const hurry = 20

let pace = 1
let stands = false

/** Lets `hurryTime` and `stopTime` change timers that are set from now on. */
export function controlTime(): void {
  for (const name of ['setTimeout', 'setInterval'] as const) {
    const real = window[name].bind(window) as (handler: () => void, ms?: number) => number
    const controlled = (handler: TimerHandler, ms = 0, ...values: unknown[]) =>
      real(
        () => {
          if (typeof handler === 'function' && !(stands && ms >= shortestWait)) handler(...values)
        },
        ms < shortestWait ? ms : ms / pace,
      )
    Object.assign(window, { [name]: controlled })
  }
}

/** A page that waits for its retries, which take a quarter of a minute, has done so in a second. */
export function hurryTime(): void {
  pace = hurry
}

/**
 * No poll, retry or limit comes any more: what a picture shows must not depend on how long a busy machine takes to get to
 * it.
 */
export function stopTime(): void {
  stands = true
}
