/**
 * Unregisters the service workers of other users' containers: they stay in a browser after their user has signed out,
 * or after a visit, and would run with the next user's cookies. A tab that is open in such a container keeps its worker
 * until it is closed. Browsers without workers, and plain http, have none.
 * @param slug of the signed-in user; undefined unregisters the workers of all containers
 */
export async function unregisterForeignServiceWorkers(slug: string | undefined): Promise<void> {
  try {
    const all = (await navigator.serviceWorker?.getRegistrations()) ?? []
    const isForeign = ({ scope }: ServiceWorkerRegistration) =>
      slug === undefined || !new URL(scope).pathname.startsWith(`/${slug}-`)
    await Promise.all(all.filter(isForeign).map((each) => each.unregister()))
  } catch {
    // A browser without storage for this site refuses to list workers, and has none.
  }
}
