import { request, type Agent } from 'node:http'
import type { CallOptions, Reply } from './berth.ts'

type Call = (method: string, target: string, options?: CallOptions) => Promise<Reply>

/** Client of the API at this port. `fetch` adds headers of its own and takes a millisecond; this does neither. */
export function caller(agent: Agent, port: number): Call {
  return (method, target, { token, body, headers } = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const given = {
      ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    }
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const asked = request({ port, agent, method, path: target, headers: given }, (answer) => {
      let received = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
      answer.on('error', reject).on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          headers: toHeaders(answer.rawHeaders),
          text: received,
          body: parse(received),
        }),
      )
    })
    asked.on('error', reject).end(text)
    return promise
  }
}

function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
  return headers
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
