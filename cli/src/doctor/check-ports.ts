import { once } from 'node:events'
import { createServer } from 'node:net'
import { settingFix, type CheckContext, type Finding } from './check.ts'

/** Whether Berth could listen on its ports; while it runs, it does. */
export async function checkPorts({ config, service }: CheckContext): Promise<Finding[]> {
  if (service !== null) return []
  const ports = [config.port, config.tls?.redirectPort ?? 0].filter((port) => port !== 0)
  const tried = await Promise.all(ports.map((port) => tryToListen(config.host, port)))
  return tried.flat()
}

async function tryToListen(host: string, port: number): Promise<Finding[]> {
  const server = createServer().listen({ host, port, exclusive: true })
  try {
    await once(server, 'listening')
    return []
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return [
      { level: 'critical', what: `Berth cannot listen on ${host}, port ${port} (${code}).`, fix: fixOf(code, port) },
    ]
  } finally {
    server.close()
  }
}

function fixOf(code: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `ss --listening --tcp --processes 'sport = ${port}' names the program; end it, or ${settingFix('PORT=8081')}`
  if (code === 'EACCES') return `give Berth CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE)`
  return settingFix('HOST=127.0.0.1')
}
