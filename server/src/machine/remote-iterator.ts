import type { MessagePort } from 'node:worker_threads'

type Answer<R> = { readonly bytes: Uint8Array } | { readonly result: R } | { readonly error: unknown }

/**
 * Gives the bytes of a source to `remoteIterator` at the other end of the port, each part when it is asked for. The source is
 * ended when the other end closes the port.
 * @param describe makes what can be cloned of an error
 */
export function serveIterator<R>(
  port: MessagePort,
  source: AsyncIterator<Uint8Array, R>,
  describe: (error: unknown) => unknown,
): void {
  const answerNext = async () => {
    try {
      const next = await source.next()
      if (next.done) return port.postMessage({ result: next.value } satisfies Answer<R>)
      // A part may be a piece of a larger buffer, which would be cloned as a whole.
      const bytes = new Uint8Array(next.value)
      port.postMessage({ bytes } satisfies Answer<R>, [bytes.buffer])
    } catch (error) {
      port.postMessage({ error: describe(error) } satisfies Answer<R>)
    }
  }
  port.on('message', () => void answerNext())
  port.once('close', () => void source.return?.()?.catch(() => undefined))
}

/**
 * Reads what `serveIterator` gives at the other end of the port, and closes the port at its end.
 * @param revive makes an error of what `describe` has made
 * @throws what `revive` makes @throws {Error} when the other thread has ended
 */
export async function* remoteIterator<R>(
  port: MessagePort,
  revive: (described: unknown) => unknown,
): AsyncGenerator<Uint8Array, R> {
  const end = new AbortController()
  // Also between two questions: nothing is answered from then on.
  port.once('close', () => end.abort(new Error('the other thread has ended')))
  try {
    for (;;) {
      const answer = await ask<R>(port, end.signal)
      if ('error' in answer) throw revive(answer.error)
      if ('result' in answer) return answer.result
      yield answer.bytes
    }
  } finally {
    port.close()
  }
}

async function ask<R>(port: MessagePort, ended: AbortSignal): Promise<Answer<R>> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer<R>>()
  const fail = () => reject(ended.reason as Error)
  if (ended.aborted) fail()
  ended.addEventListener('abort', fail)
  port.once('message', resolve)
  port.postMessage('next')
  return promise.finally(() => {
    port.off('message', resolve)
    ended.removeEventListener('abort', fail)
  })
}
