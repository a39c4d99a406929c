import type { DevtoolsEvent } from './devtools-pipe.ts'
import type { SeenRequest, SeenSocket, SeenWorker, VisitRecord } from './visit-record.ts'

/** Name of the function by which a page reports what it registers. */
export const reportBinding = 'berthTrialReport'

/** Runs in every page before its own scripts: reports service workers, whose refusals no event tells. */
export const reportScript = `(() => {
  const container = navigator.serviceWorker
  if (!container) return
  const register = container.register.bind(container)
  container.register = async (script, options) => {
    const seen = { script: new URL(script, location).href, scope: new URL(options?.scope ?? './', new URL(script, location)).href }
    try {
      const registration = await register(script, options)
      ${reportBinding}(JSON.stringify({ ...seen, scope: registration.scope, error: null }))
      return registration
    } catch (error) {
      ${reportBinding}(JSON.stringify({ ...seen, error: String(error.message).slice(0, 300) }))
      throw error
    }
  }
})()`

/** What an event says, as far as it is looked at. */
interface Params {
  readonly requestId?: string
  readonly type?: string
  readonly url?: string
  readonly errorText?: string
  readonly errorMessage?: string
  readonly blockedReason?: string
  readonly canceled?: boolean
  readonly name?: string
  readonly payload?: string
  readonly request?: { readonly url: string }
  readonly redirectResponse?: { readonly url: string; readonly status: number }
  readonly response?: { readonly status: number; readonly mimeType?: string }
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } }
  readonly entry?: { readonly level: string; readonly source: string; readonly text: string; readonly url?: string }
}

/** Turns events of a page, its frames and its workers into a record. */
export class PageWatcher {
  readonly #record: VisitRecord
  readonly #requests = new Map<string, SeenRequest>()
  readonly #sockets = new Map<string, SeenSocket>()
  /** Requests under way, and sockets that are not open yet. */
  readonly #pending = new Set<string>()
  /** Whether the browser gave requests up because networks of the machine changed. */
  isDisturbed = false

  constructor(record: VisitRecord) {
    this.#record = record
  }

  get isQuiet(): boolean {
    return this.#pending.size === 0
  }

  take({ method, params: all }: DevtoolsEvent): void {
    const params = all as Params
    const id = params.requestId ?? ''
    switch (method) {
      case 'Network.requestWillBeSent':
        return this.#requested(id, params)
      case 'Network.responseReceived':
        return this.#answered(id, params)
      case 'Network.loadingFinished':
        return void this.#pending.delete(id)
      case 'Network.loadingFailed':
        return this.#failed(id, params)
      case 'Network.webSocketCreated':
        return this.#socketCreated(id, params.url ?? '')
      case 'Network.webSocketHandshakeResponseReceived':
        this.#pending.delete(id)
        return this.#onSocket(id, (socket) => (socket.status = params.response?.status ?? null))
      case 'Network.webSocketClosed':
        return void this.#pending.delete(id)
      case 'Network.webSocketFrameError':
        return this.#onSocket(
          id,
          (socket) => (socket.error = socket.status === 101 ? null : (params.errorMessage ?? null)),
        )
      case 'Runtime.exceptionThrown': {
        const { text = '', exception } = params.exceptionDetails ?? {}
        return this.#error(exception?.description?.split('\n')[0] ?? text)
      }
      case 'Log.entryAdded':
        // Failed requests are seen as such.
        if (params.entry?.level === 'error' && params.entry.source !== 'network') this.#error(params.entry.text)
        return
      case 'Runtime.bindingCalled':
        if (params.name === reportBinding) this.#record.workers.push(JSON.parse(params.payload ?? '') as SeenWorker)
    }
  }

  #requested(id: string, { request, type = '', redirectResponse }: Params): void {
    const url = request?.url ?? ''
    if (/^(data|blob|about|chrome[\w-]*):/.test(url)) return
    if (redirectResponse) this.#record.redirects.push({ from: redirectResponse.url, to: url })
    const seen = { url, type, status: null, mimeType: '', failure: null }
    this.#requests.set(id, seen)
    this.#record.requests.push(seen)
    // Open as long as their page is.
    if (type !== 'EventSource' && type !== 'Ping') this.#pending.add(id)
  }

  #answered(id: string, { response }: Params): void {
    const seen = this.#requests.get(id)
    if (!seen || !response) return
    seen.status = response.status
    seen.mimeType = response.mimeType ?? ''
    if (seen.mimeType === 'text/event-stream') this.#pending.delete(id)
  }

  #failed(id: string, { errorText = '', blockedReason }: Params): void {
    this.#pending.delete(id)
    if (errorText.includes('NETWORK_CHANGED')) this.isDisturbed = true
    const seen = this.#requests.get(id)
    if (seen) seen.failure = [errorText, blockedReason].filter(Boolean).join(', ')
  }

  #socketCreated(id: string, url: string): void {
    const socket = { url, status: null, error: null }
    this.#sockets.set(id, socket)
    this.#pending.add(id)
    this.#record.sockets.push(socket)
  }

  #onSocket(id: string, change: (socket: SeenSocket) => void): void {
    const socket = this.#sockets.get(id)
    if (socket) change(socket)
  }

  #error(text: string): void {
    const line = text.slice(0, 300)
    if (!this.#record.errors.includes(line)) this.#record.errors.push(line)
  }
}
