import { tokenFor } from './tokens.ts'

/** Ann's container with subdomain routing below `spawner.test`, and what a browser of hers sends there. */
export const annHost = 'ann-dev.spawner.test'

/** A token that opens one container's host, as the API signs them. */
export const hostToken = (userId: number, prefix: string, sid = `session-${userId}`) =>
  tokenFor(userId, { audience: `/${prefix}`, sid })

export const annHostToken = await hostToken(1, 'ann-dev')
export const bobHostToken = await hostToken(2, 'ann-dev')

/** Headers of a request of Ann's browser to her container. */
export const annAtHost = { host: annHost, cookie: `spawner_token=${annHostToken}` }
