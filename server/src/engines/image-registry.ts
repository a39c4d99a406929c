/** Docker's own registry, by the name that engines and kubelets know it by. */
const dockerHub = 'https://index.docker.io/v1/'

/** The registry of an image: the part before the first slash, if it can be the name of a host; Docker Hub otherwise. */
export function registryOf(image: string): string {
  const [host = '', rest] = image.split('/', 2)
  const isHost = rest !== undefined && (/[.:]/.test(host) || host === 'localhost')
  return isHost && host !== 'docker.io' ? host : dockerHub
}
