import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import {
  askCluster,
  askClusterText,
  clusterImage,
  ensureStorageClass,
  loadImage,
  removeNamespaces,
} from '../support/cluster/cluster-api.ts'
import { apply } from '../support/cluster/deployment.ts'
import { manifests, settings, type Manifest } from '../support/cluster/manifests.ts'
import { isolates, labelNamespace } from '../support/cluster/policies.ts'
import { eventually } from '../support/engine/runtimes.ts'

/**
 * Part of `npm run test:cluster`: the files of deploy/kubernetes as they are, with Berth as a pod. It needs the image of a release
 * in Docker, which `BERTH_TEST_RELEASES` names; `npm run test:cluster` makes one.
 */

interface RunningPod {
  readonly metadata: { readonly name: string }
  readonly status: {
    readonly podIP?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}

const isOwn = process.env.BERTH_TEST_CLUSTER_IS_OWN !== undefined
const release = process.env.BERTH_TEST_RELEASES?.split(',')[0]
const skip = isOwn ? !release && 'there is no image of a release' : 'the cluster belongs to others'

const template = {
  display_name: 'Development',
  description: '',
  image: skip ? '' : await clusterImage(),
  port: 8080,
  memory: '64m',
  home: '/data',
  command: ['/bin/sh', '-c', 'cd /data; [ -f note ] || date +%s > note; exec httpd -f -p 8080'],
}

/** There is no kube-proxy on the own cluster, so the API server has no address inside of it but its own. */
const apiServer = [
  { name: 'KUBERNETES_SERVICE_HOST', value: '10.250.255.2' },
  { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
]

/** The Deployment with the image that Docker has. */
function deployable(manifest: Manifest): Manifest {
  if (manifest.kind !== 'Deployment') return manifest
  const { spec, ...rest } = manifest as unknown as { spec: { template: { spec: { containers: object[] } } } }
  const pod = spec.template.spec
  const containers = pod.containers.map((each) => ({ ...each, image: release, env: apiServer }))
  return {
    ...rest,
    spec: { ...spec, template: { ...spec.template, spec: { ...pod, containers } } },
  } as unknown as Manifest
}

async function runningBerth(): Promise<{ name: string; url: string }> {
  return eventually(async () => {
    const { items } = await askCluster<{ items: RunningPod[] }>('GET', '/api/v1/namespaces/berth/pods')
    const ready = items.find(({ status }) =>
      status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    )
    assert.ok(ready?.status.podIP, JSON.stringify(items.map(({ status }) => status)))
    return { name: ready.metadata.name, url: `http://${ready.status.podIP}:8080` }
  }, 180_000)
}

suite('Berth as a pod', { skip }, () => {
  after(() => removeNamespaces('berth', 'berth-containers'))

  test('applied as the files say, it becomes ready, and a user signs up, launches and opens the page', async () => {
    await loadImage(release ?? '')
    await ensureStorageClass()
    const data = { ...settings, BASE_DOMAIN: 'example.org', CONTAINER_TEMPLATES: JSON.stringify({ dev: template }) }
    const config = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'berth-settings', namespace: 'berth' },
      data,
    }
    for (const manifest of manifests) {
      await apply(deployable(manifest))
      if (manifest.kind !== 'Namespace') continue
      await labelNamespace(manifest.metadata.name)
      if (manifest.metadata.name === 'berth') await apply(config)
    }
    const { name, url } = await runningBerth()
    const log = () => askClusterText(`/api/v1/namespaces/berth/pods/${name}/log`)
    const call = async (target: string, token?: string, init: RequestInit = {}) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
      const response = await fetch(url + target, {
        redirect: 'manual',
        headers,
        signal: AbortSignal.timeout(120_000),
        ...init,
      })
      return { status: response.status, text: await response.text() }
    }

    await call('/api/auth/signup', undefined, { method: 'POST', body: JSON.stringify({ email: 'ann@x.org' }) })
    const link = await eventually(async () => {
      const [, found] = /verify-signup\?token=([\w-]+)/.exec(await log()) ?? []
      assert.ok(found)
      return found
    })
    const verified = await call(`/api/auth/verify-signup?token=${link}`)
    assert.equal(verified.status, 200, verified.text)
    const { access_token: token } = JSON.parse(verified.text) as { access_token: string }
    const launched = await call('/api/container/launch/dev', token, { method: 'POST' })
    assert.equal(launched.status, 200, launched.text)
    const { user } = JSON.parse((await call('/api/user/me', token)).text) as { user: { slug: string } }
    await eventually(async () => {
      const page = await call(`/${user.slug}-dev/note`, token)
      assert.equal(page.status, 200, page.text)
      assert.match(page.text, /^\d+/)
    }, 60_000)
    assert.equal((await call('/readyz')).status, 200)
    assert.doesNotMatch(await log(), /Forbidden/)
    if (isolates) await eventually(async () => assert.match(await log(), /NetworkPolicies are enforced/), 60_000)
  })
})
