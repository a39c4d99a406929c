import { Agent, request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/** The users who launch, and Berth's port. */
export interface Storm {
  readonly port: number
  readonly tokens: readonly string[]
}

/** The response to one user, and its latency in ms. */
export interface Answered {
  readonly status: number
  readonly ms: number
  /** The server's sentence of a refusal. */
  readonly error: string | undefined
}

/** All launch at once, on a connection each, in a separate thread: their cost must not count as Berth's. */
const { port, tokens } = workerData as Storm
const agent = new Agent({ maxSockets: Infinity })

async function launch(token: string): Promise<Answered> {
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const options = { port, host: '127.0.0.1', method: 'POST', path: '/api/container/launch/dev', headers, agent }
    request(options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => {
        const { error } = JSON.parse(text) as { error?: string }
        resolve({ status: answer.statusCode ?? 0, ms: performance.now() - began, error })
      })
    })
      .on('error', reject)
      .end()
  })
}

// A thread, not a window: there is no origin.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
parentPort?.postMessage(await Promise.all(tokens.map(launch)))
