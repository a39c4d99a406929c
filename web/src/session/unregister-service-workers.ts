import type { Boot } from '#/api/boot-data.ts'

/**
 * Unregisters the service workers of other users' containers: they stay in a browser after their user has signed out,
 * or after a visit, and would run with the next user's cookies. A tab that is open in such a container keeps its worker
 * until it is closed. Browsers without workers, and plain http, have none.
 * An administrator who acts for a user keeps no worker of that user's containers. Where containers have hosts of their
 * own, their workers are there, and what is here is of the time of path routing.
 * @param slug of the signed-in user
 */
export async function unregisterForeignServiceWorkers(
  slug: string,
  { acting, hasContainerHosts }: Pick<Boot, 'acting' | 'hasContainerHosts'>,
): Promise<void> {
  try {
    const all = (await navigator.serviceWorker?.getRegistrations()) ?? []
    const isForeign = ({ scope }: Pick<ServiceWorkerRegistration, 'scope'>) =>
      acting !== null || hasContainerHosts || !new URL(scope).pathname.startsWith(`/${slug}-`)
    await Promise.all(all.filter(isForeign).map((each) => each.unregister()))
  } catch {
    // A browser without storage for this site refuses to list workers, and has none.
  }
}
