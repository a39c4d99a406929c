/**
 * Ends the service workers of containers that are not the signed-in person's: they stay in a browser after whoever
 * registered them has signed out, or after a visit, and go on with the cookies of who is there next. What is open in such a
 * container keeps its worker until it is closed. Browsers without workers, and plain http, have none to end.
 * @param slug of the signed-in person; undefined ends the workers of all containers
 */
export async function unregisterForeignServiceWorkers(slug: string | undefined): Promise<void> {
  try {
    const all = (await navigator.serviceWorker?.getRegistrations()) ?? []
    const isForeign = ({ scope }: ServiceWorkerRegistration) =>
      slug === undefined || !new URL(scope).pathname.startsWith(`/${slug}-`)
    await Promise.all(all.filter(isForeign).map((each) => each.unregister()))
  } catch {
    // A browser that keeps no storage for this site refuses to list them, and has none.
  }
}
