import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { readAllowances } from '#/engines/broker/create-check.ts'
import { createEngineBroker } from '#/engines/broker/broker.ts'
import { InstallationLock } from '#/engines/broker/installation-objects.ts'
import { PulledImages } from '#/engines/broker/pulled-images.ts'
import { parseEngineAddress } from '#/engines/docker/engine-address.ts'
import type { Lifetime } from '#test/support/berth.ts'
import { engineAddress, newInstallation, removeInstallation } from '#test/support/engine/engine.ts'

/** A broker before the engine of this machine. */
export interface BrokerRig {
  readonly installation: string
  /** As in `DOCKER_HOST`. */
  readonly address: string
  /** What it wrote about refusals. */
  readonly lines: string[]
  /** Path of its socket. */
  readonly socket: string
  /** A folder of this test alone, the only one that may be mounted. */
  readonly root: string
  /** Asks it as any program could that reaches its socket. @param body JSON, unless it is text */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }>
}

interface BrokerRigOptions {
  /** `BROKER_ALLOW`. @param root the folder that may be mounted */
  readonly allow?: (root: string) => string
  /** As in `DOCKER_HOST`; the engine of this machine without it. */
  readonly engine?: string
}

/** It ends with the test, and so does what its installation made. */
export async function startBroker(
  lifetime: Lifetime,
  { allow = () => '', engine = engineAddress }: BrokerRigOptions = {},
): Promise<BrokerRig> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-broker-'))
  const root = path.join(folder, 'shared')
  mkdirSync(root)
  const [socket, lines] = [path.join(folder, 'broker.sock'), [] as string[]]
  const installation = newInstallation()
  const broker = createEngineBroker({
    engine: parseEngineAddress(engine),
    allowances: readAllowances(allow(root)),
    mountRoots: [root],
    installation: new InstallationLock(path.join(folder, 'installation')),
    pulled: new PulledImages(path.join(folder, 'installation.images')),
    log: (line) => void lines.push(line),
    limits: { timeout: 1_000, maxTotal: 2 * 1024 * 1024 },
  })
  broker.listen(socket)
  await once(broker, 'listening')
  lifetime.after(async () => {
    broker.closeAllConnections()
    broker.close()
    await removeInstallation(installation)
    rmSync(folder, { recursive: true })
  })
  return {
    installation,
    address: `unix://${socket}`,
    lines,
    socket,
    root,
    ask: (method, target, body) => ask(socket, method, target, body),
  }
}

async function ask(socketPath: string, method: string, target: string, body: unknown) {
  const headers = { host: 'docker', ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const asked = request({ socketPath, method, path: target, headers, agent: false })
  asked.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += String(chunk)
  return { status: response.statusCode ?? 0, text }
}

/** Asks for a connection that is given over. @returns the status of the answer */
export async function upgradeStatus(socketPath: string, target: string, body = '{}'): Promise<number> {
  const headers = { host: 'docker', connection: 'Upgrade', upgrade: 'tcp', 'content-length': body.length }
  const asked = request({ socketPath, method: 'POST', path: target, headers, agent: false })
  asked.end(body)
  const given = once(asked, 'upgrade') as Promise<[IncomingMessage, Socket]>
  const refused = once(asked, 'response') as Promise<[IncomingMessage]>
  const [response, connection] = await Promise.race([given, refused])
  connection?.destroy()
  response.resume()
  return response.statusCode ?? 0
}

/** What Berth sends for a container, to be changed by those who attack. */
export const containerBody = (installation: string, image: string, hostConfig: object = {}, rest: object = {}) => ({
  Image: image,
  Env: ['PORT=8080'],
  Labels: { 'berth.instance': installation, 'berth.user_id': '1', 'berth.slug': 'eve', 'berth.type': 'dev' },
  StopTimeout: 10,
  HostConfig: {
    Memory: 67108864,
    MemorySwap: 67108864,
    OomScoreAdj: 500,
    NanoCpus: 1000000000,
    CpuShares: 256,
    PidsLimit: 64,
    Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
    ShmSize: 67108864,
    Privileged: false,
    CapDrop: ['ALL'],
    CapAdd: ['CHOWN'],
    SecurityOpt: ['no-new-privileges:true'],
    IpcMode: 'private',
    CgroupnsMode: 'private',
    ReadonlyRootfs: false,
    Devices: [],
    NetworkMode: installation,
    RestartPolicy: { Name: 'no' },
    Init: true,
    AutoRemove: false,
    Mounts: [],
    ...hostConfig,
  },
  NetworkingConfig: { EndpointsConfig: { [installation]: {} } },
  ...rest,
})
