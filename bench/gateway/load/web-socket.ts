import { connect, type Socket } from 'node:net'

/** An open WebSocket, of which only bytes are seen. @throws {Error} when the answer is not 101, or none comes in 10 s */
export function openWebSocket(port: number, head: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(head, 'latin1'))
    let answer = ''
    const onData = (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      if (!answer.includes('\r\n\r\n')) return
      socket.off('data', onData)
      socket.setTimeout(0)
      if (answer.startsWith('HTTP/1.1 101 ')) resolve(socket)
      else reject(new Error(`the WebSocket was answered with ${answer.slice(0, 200)}`))
    }
    socket.on('data', onData)
    socket.on('error', reject)
    socket.setTimeout(10_000, () => socket.destroy(new Error('the WebSocket was not answered')))
  })
}
