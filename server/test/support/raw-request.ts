import { request, type IncomingHttpHeaders } from 'node:http'
import type { Berth } from './berth.ts'

export interface RawReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/**
 * A request exactly as written: `fetch` sets `Host` and `Sec-Fetch-Mode` by itself, tidies paths, and sends no body
 * without a content type.
 */
export async function rawCall(
  berth: Berth,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<RawReply> {
  const { hostname, port } = new URL(berth.url)
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
    })
    asked.on('error', reject).end(body)
  })
}
