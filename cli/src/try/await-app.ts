import { request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** Where an application is expected, on the network of the engine. */
export interface AppAddress {
  readonly host: string
  readonly port: number
}

/** How an application came up. */
export interface Arrival {
  /** ms until its port was open; null when it never was. */
  readonly openAfter: number | null
  /** ms until it answered below 500; null when it did not. */
  readonly answeredAfter: number | null
  /** A port that is open instead of the expected one. */
  readonly otherPort: number | null
}

/** Ports that web applications listen on by default. */
const usualPorts = [
  80, 1880, 2718, 3000, 3001, 3838, 4000, 4200, 4321, 5000, 5001, 5173, 5601, 6006, 6080, 6901, 7681, 7860, 8000, 8001,
  8080, 8081, 8088, 8090, 8443, 8501, 8787, 8888, 9000, 9090,
]
/** When other ports are looked at first, how often anything is, and how long a connection may take, in ms. */
const [otherPortsAfter, pause, connectTimeout] = [4_000, 250, 1_000]

/**
 * Waits until an application answers, or listens elsewhere, or ends.
 * @param limit ms @param path of the request, as the application sees it @param isRunning asked now and then
 * @throws the reason of the signal
 */
export async function awaitApp(
  { host, port }: AppAddress,
  path: string,
  limit: number,
  isRunning: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<Arrival> {
  const begin = performance.now()
  let openAfter: number | null = null
  for (let round = 0; performance.now() - begin < limit; round += 1) {
    const now = performance.now() - begin
    if (await isOpen(host, port)) {
      openAfter ??= performance.now() - begin
      if (await answers(host, port, path))
        return { openAfter, answeredAfter: performance.now() - begin, otherPort: null }
    } else if (now > otherPortsAfter && round % 8 === 0) {
      const otherPort = await openPort(host, port)
      if (otherPort !== null) return { openAfter, answeredAfter: null, otherPort }
    }
    if (round % 8 === 7 && !(await isRunning())) break
    await wait(pause, undefined, { signal })
  }
  return { openAfter, answeredAfter: null, otherPort: null }
}

async function openPort(host: string, expected: number): Promise<number | null> {
  const others = usualPorts.filter((port) => port !== expected)
  const open = await Promise.all(others.map((port) => isOpen(host, port)))
  return others.find((_, at) => open[at]) ?? null
}

function isOpen(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: connectTimeout })
  const end = (isThere: boolean) => {
    socket.destroy()
    resolve(isThere)
  }
  socket
    .once('connect', () => end(true))
    .once('error', () => end(false))
    .once('timeout', () => end(false))
  return promise
}

function answers(host: string, port: number, path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const asked = request({ host, port, path, timeout: 5_000, headers: { host: `${host}:${port}` } }, (response) => {
    response.destroy()
    resolve((response.statusCode ?? 500) < 500)
  })
  asked
    .on('timeout', () => asked.destroy())
    .on('error', () => resolve(false))
    .end()
  return promise
}
