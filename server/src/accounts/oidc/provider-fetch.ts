import { askServer } from '#/machine/outgoing-request.ts'

/** Max bytes of a provider's answer; a discovery document or key set has some ten thousand. */
const maxAnswer = 1_048_576

/** What the libraries ask for with each request. */
interface RequestOptions {
  readonly method: string
  readonly headers: Headers | Record<string, string>
  readonly body?: unknown
  readonly signal?: AbortSignal | null
}

/**
 * In place of `fetch`, with a limit for the size of the answer, which any server at the address of the provider may send.
 * @throws {TypeError} when it is larger than 1 MiB, or coded although no coding was asked for; `fetch failed`, as of `fetch`, with
 * the cause when no whole answer comes · the reason of the signal
 */
export async function providerFetch(url: string, options: object): Promise<Response> {
  const { signal } = options as RequestOptions
  try {
    return await ask(url, options as RequestOptions)
  } catch (error) {
    if (signal?.aborted || error instanceof TypeError) throw error
    throw new TypeError('fetch failed', { cause: error })
  }
}

async function ask(url: string, { method, headers, body, signal }: RequestOptions): Promise<Response> {
  const answer = await askServer(url, {
    method,
    headers: Object.fromEntries(new Headers(headers)),
    body: body === undefined || body === null ? undefined : String(body as string | URLSearchParams),
    signal: signal ?? undefined,
  })
  const answered = headersOf(answer.rawHeaders)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body) {
    size += chunk.byteLength
    // Leaving the loop ends the connection.
    if (size > maxAnswer) throw new TypeError(`the answer is larger than ${maxAnswer} bytes`)
    chunks.push(chunk)
  }
  if (!/^(?:identity)?$/i.test(answered.get('content-encoding') ?? '')) throw new TypeError('the answer is coded')
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status: answer.status, headers: answered })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < raw.length; at += 2) headers.append(raw[at] ?? '', raw[at + 1] ?? '')
  return headers
}
