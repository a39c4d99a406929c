import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ClusterAccess } from '#/engines/kubernetes/cluster-access.ts'
import { ClusterClient } from '#/engines/kubernetes/cluster-client.ts'
import { defaultTimeouts, type ClusterContext, type ClusterTimeouts } from '#/engines/kubernetes/cluster-context.ts'
import { PodIndex } from '#/engines/kubernetes/pod-index.ts'
import { SecretAnchor, UnstartedEnvironments } from '#/engines/kubernetes/pod-secrets.ts'
import type { Lifetime } from '../berth.ts'
import { schemaProblems } from './api-schemas.ts'

/** A request that reached the stand-in. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: unknown
}

const anyone: Omit<ClusterAccess, 'server'> = {
  namespace: 'ns',
  connect: async () => ({}),
  headers: async () => ({}),
  renew: () => undefined,
}

export type Answer = (asked: Asked, response: ServerResponse) => unknown

/**
 * A stand-in for an API server, for faults that a real one cannot be made to have: it answers as the test says.
 * @param access left out: no credentials are asked for
 * @returns what the adapter works with, all requests so far, and the server, for connections that are upgraded
 */
export async function openStandIn(
  t: Lifetime,
  answer: Answer,
  timeouts: Partial<ClusterTimeouts> = {},
  access: Partial<ClusterAccess> = {},
): Promise<{ cluster: ClusterContext; asked: Asked[]; server: Server }> {
  const asked: Asked[] = []
  const refused: string[] = []
  const server = createServer((request, response) => void take(request, response))
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://stand-in')
    const text = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString()
    const body: unknown = text === '' ? undefined : JSON.parse(text)
    const one = { method: request.method ?? '', path: pathname, query: searchParams, body }
    asked.push(one)
    if (one.method === 'POST' && isObject(body)) refused.push(...schemaProblems(body))
    await answer(one, response)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    // What is created has kinds and fields of the newest API alone.
    assert.deepEqual(refused, [])
  })
  const { port } = server.address() as AddressInfo
  const client = new ClusterClient({ ...anyone, server: `http://127.0.0.1:${port}`, ...access })
  const common = {
    installation: 'berth-abcde',
    namespace: 'ns',
    storageClass: null,
    helperImage: null,
    toolImage: null,
    isolation: null,
    pullSecrets: new Map(),
    anchor: new SecretAnchor(),
    environments: new UnstartedEnvironments(),
  }
  return {
    cluster: { ...common, client, index: new PodIndex('berth-abcde'), timeouts: { ...defaultTimeouts, ...timeouts } },
    asked,
    server,
  }
}

const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null && 'kind' in body

export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** What the API says instead of doing it. */
export const status = (code: number, reason: string, message = reason) => ({ kind: 'Status', code, reason, message })

/** A pod of the installation. */
export const storedPod = (name: string, uid: string, fields: { running?: boolean; version?: string } = {}) => ({
  kind: 'Pod',
  metadata: {
    name,
    uid,
    resourceVersion: fields.version ?? '1',
    labels: { 'berth.instance': 'berth-abcde', 'berth.user_id': '1' },
    annotations: { 'berth.slug': 'ann', 'berth.type': 'dev', 'berth.name': name },
  },
  status: fields.running
    ? { phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ state: { running: {} } }] }
    : { phase: 'Pending' },
})

export const podList = (version: string, ...items: object[]) => ({ metadata: { resourceVersion: version }, items })
