/** Max bytes of a provider's answer; a discovery document or key set has some ten thousand. */
const maxAnswer = 1_048_576

/** What the library asks for with each request. */
interface RequestOptions {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: unknown
  readonly redirect: 'manual'
  readonly signal?: AbortSignal | null
}

/**
 * `fetch` with a limit for the size of the answer, which any server at the address of the provider may send.
 * @throws {TypeError} when no answer comes, or it is larger than 1 MiB
 */
export async function providerFetch(url: string, options: object): Promise<Response> {
  const answer = await fetch(url, options as RequestInit & RequestOptions)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer.body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the rest.
    if (size > maxAnswer) throw new TypeError(`the answer is larger than ${maxAnswer} bytes`)
    chunks.push(chunk)
  }
  const body = size === 0 ? null : Buffer.concat(chunks)
  return new Response(body, { status: answer.status, headers: answer.headers })
}
