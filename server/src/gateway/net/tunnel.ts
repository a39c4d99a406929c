import type { AnswerTaker, AppConnection } from './app-connection.ts'
import { clock } from './clock.ts'
import { FrameReader } from './frame-reader.ts'
import type { Caller } from './people.ts'
import type { Upstream } from './route.ts'
import type { Stream } from './stream.ts'

/** The client's side of a tunnel. */
export interface TunnelClient {
  write(bytes: Buffer): boolean
  isHoldingBytes(): boolean
  pause(): void
  resume(): void
  /** Sends what was written, then closes. */
  end(): void
  cut(): void
}

/**
 * A WebSocket once both sides have agreed to it: bytes go both ways as they come. Frames are followed only to tell
 * what people send from pings: an open but silent socket must not keep a container awake.
 */
export class Tunnel implements AnswerTaker, Stream {
  readonly isWaiting = false
  place = 0
  readonly caller: Caller | undefined
  readonly upstream: Upstream
  readonly #client: TunnelClient
  readonly #app: AppConnection
  readonly #fromApp = new FrameReader()
  readonly #fromClient = new FrameReader()
  readonly #wake: () => Promise<unknown>
  #isWaking = false
  #isAppPaused = false
  /** Some of the bytes that `takeBytes` got last are still on their way to the app. */
  isHoldingRequest = false
  /** When the last byte moved, pings included; by `clock.now`. */
  lastByteAt = clock.now

  /** @param wake called for data on its way to an app that has no address now: it is paused, and would not hear it. Never rejects */
  constructor(caller: Caller | undefined, app: AppConnection, client: TunnelClient, wake: () => Promise<unknown>) {
    this.caller = caller
    this.upstream = app.upstream
    this.#app = app
    this.#client = client
    this.#wake = wake
    this.upstream.streams.add(this)
    app.handTo(this)
  }

  /** Bytes from the client. */
  takeBytes(bytes: Buffer): void {
    this.lastByteAt = clock.now
    if (this.#fromClient.read(bytes, bytes.length)) this.#noteData()
    const isRoom = this.#app.write(bytes)
    // Held back, nothing is read over them.
    if (!isRoom) this.#client.pause()
    this.isHoldingRequest = isRoom && this.#app.isHoldingBytes()
  }

  takeAnswer(bytes: Buffer, end: number): void {
    this.lastByteAt = clock.now
    if (this.#fromApp.read(bytes, end)) this.upstream.touch()
    this.#isAppPaused = !this.#client.write(bytes.subarray(0, end))
    if (this.#isAppPaused) this.#app.pause()
  }

  isHoldingBytes(): boolean {
    return !this.#isAppPaused && this.#client.isHoldingBytes()
  }

  appDrained(): void {
    this.#client.resume()
  }

  clientDrained(): void {
    this.#isAppPaused = false
    this.#app.resume()
  }

  appEnded(error: Error | undefined): void {
    this.upstream.streams.delete(this)
    if (error) this.#client.cut()
    else this.#client.end()
  }

  clientGone(): void {
    this.upstream.streams.delete(this)
    this.#app.destroySoon()
  }

  cut(): void {
    this.upstream.streams.delete(this)
    this.#app.destroy()
    this.#client.cut()
  }

  #noteData(): void {
    this.upstream.touch()
    if (this.upstream.address !== undefined || this.#isWaking) return
    // One wake for all that is said meanwhile: somebody who types fast must not ask for each letter.
    this.#isWaking = true
    void this.#wake().then(() => (this.#isWaking = false))
  }
}
