import { HomeLocks } from '#/containers/home-locks.ts'
import { HomeNames, type HomeNamesParts } from '#/containers/home-names.ts'

/** Homes of an installation in which no type shares one: the store and the engine are not asked. */
export function unsharedHomes(installation = 'berth'): HomeLocks {
  const templates = { all: () => [], get: () => undefined }
  return new HomeLocks(new HomeNames({ templates, installation } as Partial<HomeNamesParts> as HomeNamesParts))
}
