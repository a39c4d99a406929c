import net from 'node:net'

type Done = (error?: Error | null) => void

/**
 * Connects to an app. The connection fails when the app has not accepted within `limit` ms.
 * Sending on it to an app that no longer listens is not a failure by itself: see `AppSocket`.
 */
export function connectToApp({ host, port }: { host: string; port: number }, limit: number): net.Socket {
  const socket = new AppSocket().connect(port, host).setNoDelay(true)
  const late = () => socket.destroy(new Error(`no connection within ${limit} ms`))
  const timer = setTimeout(late, limit)
  socket.once('connect', () => clearTimeout(timer))
  socket.once('close', () => clearTimeout(timer))
  return socket
}

/**
 * An app may refuse a large upload (413) and close while we are still sending. Node ends a socket at the first write that
 * fails, with the app's answer still unread: of 20 such answers 20 were lost. Here a write that fails because the app is
 * gone only stops the sending; what the app said is read to its end, which follows at once, and that closes the socket.
 */
class AppSocket extends net.Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    // oxlint-disable-next-line eslint/no-underscore-dangle -- Node's name for what a stream overrides
    super._write(chunk, encoding, unlessGone(done))
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    // oxlint-disable-next-line eslint/no-underscore-dangle -- as above
    super._writev?.(chunks, unlessGone(done))
  }
}

function unlessGone(done: Done): Done {
  return (error) => {
    const code = error && 'code' in error ? error.code : undefined
    if (code !== 'EPIPE' && code !== 'ECONNRESET') done(error)
  }
}
