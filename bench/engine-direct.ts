import { Agent, request } from 'node:http'

/**
 * The engine without Berth: the lower bound of a launch. Plain HTTP on the engine's socket with keep-alive connections;
 * only necessary parts are parsed.
 */
const agent = new Agent({ keepAlive: true })
const socketPath = (process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')

async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const headers =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
    const sent = request({ agent, socketPath, method, path: `/v1.41${path}`, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const answer = Buffer.concat(chunks).toString()
        if ((response.statusCode ?? 500) >= 400)
          reject(new Error(`${method} ${path}: ${response.statusCode} ${answer}`))
        else resolve(answer === '' ? {} : (JSON.parse(answer) as Record<string, unknown>))
      })
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

/** The create request that gives this container again, with another name and another home. */
export async function recipeOf(containerId: string): Promise<(name: string) => object> {
  const found = (await ask('GET', `/containers/${containerId}/json`)) as {
    Config: object
    HostConfig: { Mounts?: { Source: string }[]; NetworkMode: string }
  }
  return (name) => ({
    ...found.Config,
    Hostname: '',
    HostConfig: {
      ...found.HostConfig,
      Mounts: found.HostConfig.Mounts?.map((mount) => ({ ...mount, Source: `${mount.Source}-${name}` })),
    },
    NetworkingConfig: { EndpointsConfig: { [found.HostConfig.NetworkMode]: {} } },
  })
}

/** Creates and starts a container directly at the engine. */
export async function launchDirectly(name: string, recipe: object): Promise<string> {
  const { Id } = await ask('POST', `/containers/create?name=${name}`, recipe)
  await ask('POST', `/containers/${String(Id)}/start`)
  return String(Id)
}

export async function removeDirectly(containerId: string): Promise<void> {
  await ask('DELETE', `/containers/${containerId}?force=true&v=true`)
}
