import { createKubernetesRuntime } from '#/engines/kubernetes/kubernetes-runtime.ts'
import type { BerthOptions, Lifetime } from '../berth.ts'
import { askEngine, newInstallation } from '../engine/engine.ts'
import { kubeconfig, loadImage, makeNamespace } from './cluster-api.ts'

/** A cluster asks a registry for an image that is called `latest`. */
const tag = 'cluster'

/** A Berth whose containers are pods, in a namespace that has the name of the installation. @param helperImage for files of homes */
export async function onCluster(
  t: Lifetime,
  toolImage: string | null = null,
  helperImage: string | null = null,
): Promise<BerthOptions & { readonly installation: string }> {
  const installation = newInstallation()
  const removeNamespace = await makeNamespace(installation)
  const runtime = await createKubernetesRuntime({
    installation,
    kubeconfig,
    namespace: installation,
    storageClass: null,
    toolImage,
    helperImage,
  })
  t.after(removeNamespace)
  return { installation, wrapRuntime: () => runtime }
}

/** The same with the demo images. */
export async function demoOnCluster(t: Lifetime): Promise<BerthOptions> {
  const images = ['berth-demo-dev', 'berth-demo-prod']
  for (const repo of images) {
    await askEngine('POST', `/images/${repo}:latest/tag`, { query: { repo, tag } })
    await loadImage(`${repo}:${tag}`)
    await askEngine('DELETE', `/images/${repo}:${tag}`)
  }
  const [dev, prod] = images.map((repo) => `${repo}:${tag}`)
  const env = { CONTAINER_TEMPLATES: '', USER_TEMPLATE_IMAGE_DEV: dev ?? '', USER_TEMPLATE_IMAGE_PROD: prod ?? '' }
  return { ...(await onCluster(t)), env }
}
