import { labelOf, segmentOf } from '@berth/gateway/basics/container-port.ts'
import type { Prefix } from './world.ts'

/** How a person's program addresses a container, and says who asks. */
export interface Addressing {
  /** @param port a further one @returns path, `Host`, and the line with the token */
  of(
    prefix: Prefix,
    port: number | undefined,
    isOwn: boolean,
  ): { readonly path: string; readonly host: string; readonly credentials: string }
}

export const byPath = (token: string): Addressing => ({
  of: ({ name }, port) => ({
    path: `/${segmentOf(name, port)}/`,
    host: 'a',
    credentials: `Authorization: Bearer ${token}`,
  }),
})

/** @param hostTokens of the owners, by prefix: a browser's, beside one that a page of another container has tossed in */
export const byHost = (token: string, hostTokens: ReadonlyMap<string, string>): Addressing => ({
  of: ({ name }, port, isOwn) => ({
    path: '/',
    host: `${labelOf(name, port)}.spawner.test`,
    credentials: isOwn
      ? `Cookie: spawner_token=${token}; spawner_token=${hostTokens.get(name)}`
      : `Authorization: Bearer ${token}`,
  }),
})
