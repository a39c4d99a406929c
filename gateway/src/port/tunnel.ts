/**
 * How the gateway asks the API for a connection from inside of a container: `GET /{tunnelPath}/{prefix}/{port}` on the API's socket,
 * with `Upgrade: {tunnelProtocol}`. The answer is 101, and then the bytes of the connection; 404 when nothing listens there. No
 * client can ask: the gateway passes no `Upgrade` on to the API.
 */
export const [tunnelPath, tunnelProtocol] = ['.berth-ports', 'berth-port']
