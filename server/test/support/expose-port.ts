import net from 'node:net'
import type { Lifetime } from './berth.ts'

/** Serves at an address of this machine what listens on its loopback. @returns the address, with the port */
export async function exposePort(lifetime: Lifetime, host: string, port: number): Promise<string> {
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1')
    near.pipe(far).pipe(near)
    near.on('error', () => far.destroy())
    far.on('error', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  lifetime.after(async () => void server.close())
  return `${host}:${(server.address() as net.AddressInfo).port}`
}
