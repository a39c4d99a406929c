import type { ServerResponse } from 'node:http'
import type { Container } from './containers.ts'

/** The subscribers of `GET /events`. */
export class Events {
  readonly #listeners = new Set<ServerResponse>()
  /** Events sent since the last `take`. */
  #emitted = 0

  add(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    this.#listeners.add(response)
    response.once('close', () => this.#listeners.delete(response))
  }

  emit({ id, image, name, labels }: Container, action: string): void {
    if (this.#listeners.size === 0) return
    const now = Date.now()
    const event = {
      status: action,
      id,
      from: image,
      Type: 'container',
      Action: action,
      Actor: { ID: id, Attributes: { ...labels, image, name } },
      scope: 'local',
      time: Math.floor(now / 1000),
      timeNano: now * 1_000_000,
    }
    const line = `${JSON.stringify(event)}\n`
    for (const listener of this.#listeners) listener.write(line)
    this.#emitted++
  }

  takeCount(): number {
    const emitted = this.#emitted
    this.#emitted = 0
    return emitted
  }
}
