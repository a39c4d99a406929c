import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import path from 'node:path'
import { freePort } from '../../gateway/process.ts'
import { readClusterFigures } from '../cluster-figures.ts'
import type { Fleet } from '../fake-engine/fleet.ts'
import { Listener, obeyOrders, startApps, type Order } from '../stand-in.ts'
import { ClusterApi } from './cluster-api.ts'
import { storm } from './storm.ts'

/**
 * A fake Kubernetes cluster with a whole fleet: `main.ts <folder> <fleet.json>`. It serves the API over TLS with the latencies of
 * the measured cluster, writes `kubeconfig` into the folder, runs no pod, and serves one small app at all their addresses.
 * The benchmark starts it and triggers faults by messages.
 */
const [, , folder = '', fleetFile = ''] = process.argv
const fleet = JSON.parse(readFileSync(fleetFile, 'utf8')) as Fleet
const api = new ClusterApi(readClusterFigures(), fleet)
const port = await freePort()
const pair = makeCertificate()
writeKubeconfig()
const listener = new Listener(listen)
await listener.listen()
await startApps(fleet.appPort)
obeyOrders(obey)

async function listen() {
  const created = createServer(pair, (request, response) => {
    api.answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${request.method} ${request.url}: ${String(error)}\n`)
      response.destroy()
    })
  })
  created.keepAliveTimeout = 60_000
  created.listen(port, '127.0.0.1', 4096)
  await once(created, 'listening')
  return created
}

async function obey(order: Order): Promise<unknown> {
  switch (order.kind) {
    case 'counts':
      return { calls: api.takeCounts(), events: api.watches.takeCount() }
    case 'states':
      return { running: api.pods.size, gone: fleet.running - api.pods.size }
    case 'away':
      await listener.goAway(order.ms)
      return {}
    case 'storm':
      return { events: await storm(api, order.perSecond, order.ms) }
  }
}

/** Self-signed (ECDSA, P-256), for 127.0.0.1. */
function makeCertificate(): { key: Buffer; cert: Buffer } {
  const [key, cert] = [path.join(folder, 'cluster.key'), path.join(folder, 'cluster.pem')]
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  const name = ['-subj', '/CN=fleet', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...kind, ...name, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { key: readFileSync(key), cert: readFileSync(cert) }
}

function writeKubeconfig(): void {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'certificate-authority-data': pair.cert.toString('base64'),
        },
      },
    ],
    users: [{ name: 'u', user: { token: 'of-the-fleet' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: fleet.installation } }],
    'current-context': 'x',
  }
  writeFileSync(path.join(folder, 'kubeconfig'), JSON.stringify(config), { mode: 0o600 })
}
