/** Headers of a WebSocket handshake (RFC 6455, 1.3, with the key of its example) by the user with this token. */
export const webSocketHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
})
