import { randomBytes } from 'node:crypto'
import { createKubernetesRuntime } from '#/runtime/kubernetes/kubernetes-runtime.ts'
import type { BerthOptions, Lifetime } from '../berth.ts'
import { askEngine } from '../engine/engine.ts'
import { kubeconfig, loadImage, makeNamespace } from './cluster-api.ts'

/** A cluster asks a registry for an image that is called `latest`. */
const tag = 'cluster'

/** A Berth with the demo images whose containers are pods. */
export async function demoOnCluster(t: Lifetime): Promise<BerthOptions> {
  const installation = `test-${randomBytes(4).toString('hex')}x`
  const images = ['berth-demo-dev', 'berth-demo-prod']
  for (const repo of images) {
    await askEngine('POST', `/images/${repo}:latest/tag`, { query: { repo, tag } })
    await loadImage(`${repo}:${tag}`)
    await askEngine('DELETE', `/images/${repo}:${tag}`)
  }
  const removeNamespace = await makeNamespace(installation)
  const runtime = await createKubernetesRuntime({
    installation,
    kubeconfig,
    namespace: installation,
    storageClass: null,
  })
  t.after(removeNamespace)
  const [dev, prod] = images.map((repo) => `${repo}:${tag}`)
  return {
    installation,
    wrapRuntime: () => runtime,
    env: { CONTAINER_TEMPLATES: '', USER_TEMPLATE_IMAGE_DEV: dev ?? '', USER_TEMPLATE_IMAGE_PROD: prod ?? '' },
  }
}
