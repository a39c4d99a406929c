import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import type { Lifetime } from './berth.ts'

export interface ReceivedMessage {
  readonly id: string
  readonly path: string
  readonly body: {
    readonly type: string
    readonly timestamp: string
    readonly data: { readonly id: number; readonly action: string; readonly target: string; readonly hash: string }
  }
}

/** Instead of accepting a message; the response may be left open. */
type Behaviour = (response: ServerResponse, message: ReceivedMessage) => void

/** A receiver on the loopback that checks signatures with the library of Standard Webhooks. */
export class WebhookReceiver {
  /** Every attempt whose signature is right, refused ones included. */
  readonly attempts: ReceivedMessage[] = []
  readonly accepted: ReceivedMessage[] = []
  /** What was wrong with requests. */
  readonly faults: string[] = []
  behave: Behaviour | undefined
  readonly #webhook: Webhook
  #server: Server | undefined
  #port = 0

  constructor(secret: string) {
    this.#webhook = new Webhook(secret)
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hooks/s3cret-path`
  }

  /** Listens, after `stop` on the same port as before. */
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.#receive(request, response))
    this.#server = server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server?.close(resolve))
    this.#server?.closeAllConnections()
    await closed
  }

  /** Positions of the accepted entries, in order of arrival. */
  get positions(): number[] {
    return this.accepted.map(({ body }) => body.data.id)
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString()
    try {
      const headers = request.headers as Record<string, string>
      const body = this.#webhook.verify(text, headers) as ReceivedMessage['body']
      const message = { id: headers['webhook-id'] ?? '', path: request.url ?? '', body }
      this.attempts.push(message)
      if (this.behave) return this.behave(response, message)
      this.accepted.push(message)
      response.writeHead(204).end()
    } catch (error) {
      this.faults.push(String(error))
      response.writeHead(401).end()
    }
  }
}

export async function startReceiver(lifetime: Lifetime, secret: string): Promise<WebhookReceiver> {
  const receiver = new WebhookReceiver(secret)
  await receiver.start()
  lifetime.after(() => receiver.stop())
  return receiver
}
