import { connect } from 'node:net'
import { connectTls } from './app-tls.ts'

/** Where a template's `ready_path` is, for an app that is reached below this prefix. */
export function readinessTarget(readyPath: string, prefix: string, stripPrefix: boolean): string {
  return stripPrefix ? `/${readyPath}` : `/${prefix}/${readyPath}`
}

/** Max length of a status line that is read, in bytes. */
const maxStatusLine = 256

/**
 * One GET that an app has to answer with a status below 500 before it counts as ready. Without `node:http`, which takes 13 MB
 * of the gateway process. @param timeout ms @param usesTls its certificate is not checked @returns false for no answer, another one, and after the timeout
 */
export function answersReady(
  { host, port }: { readonly host: string; readonly port: number },
  target: string,
  timeout: number,
  usesTls = false,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = usesTls ? connectTls({ host, port }) : connect({ host, port })
  const limit = setTimeout(() => resolve(false), timeout).unref()
  let answer = ''
  socket.unref()
  socket.setEncoding('latin1')
  socket.once(usesTls ? 'secureConnect' : 'connect', () =>
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${hostOf(host)}:${port}\r\nAccept: */*\r\nConnection: close\r\n\r\n`),
  )
  socket.on('data', (text: string) => {
    answer += text
    if (answer.includes('\r\n') || answer.length > maxStatusLine) resolve(isBelow500(answer))
  })
  socket.on('error', () => resolve(false)).on('close', () => resolve(false))
  return promise.finally(() => {
    clearTimeout(limit)
    socket.destroy()
  })
}

const hostOf = (host: string) => (host.includes(':') ? `[${host}]` : host)

const isBelow500 = (answer: string) => /^HTTP\/1\.\d [1-4]\d\d[ \r]/.test(answer)
