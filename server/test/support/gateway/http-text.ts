import { annToken } from './tokens.ts'

/** A request head as text, with Ann's token and `Connection: close`. */
export function requestHead(firstLine: string, ...lines: readonly string[]): string {
  return headOf(firstLine, 'Host: spawner.test', `Authorization: Bearer ${annToken}`, 'Connection: close', ...lines)
}

/** As `requestHead`, on a connection that is kept. */
export function keptHead(firstLine: string, ...lines: readonly string[]): string {
  return headOf(firstLine, 'Host: spawner.test', `Authorization: Bearer ${annToken}`, ...lines)
}

/** Lines as a head, nothing added but line ends. */
export function headOf(...lines: readonly string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`
}

/** Everything behind an answer's first head. */
export function bodyOf(answer: string): string {
  return answer.slice(answer.indexOf('\r\n\r\n') + 4)
}

export const webSocketLines: readonly string[] = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** A WebSocket's opening handshake with Ann's token. */
export function upgradeHead(...lines: readonly string[]): string {
  return keptHead('GET /ann-dev/socket?x=1 HTTP/1.1', ...webSocketLines, ...lines)
}

/** What an app says to agree to a WebSocket; the key's answer belongs to the key in `webSocketLines`. */
export const switching = headOf(
  'HTTP/1.1 101 Switching Protocols',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
)
