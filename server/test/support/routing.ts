import type { App } from '#/start/app.ts'
import { get } from './gateway/raw-client.ts'

/** Where browsers are in a container, by the way of routing of its Berth. @param prefix such as `ann-dev` */
export const containerAddress = ({ spawnerUrl, containerOrigin }: App, prefix: string): string =>
  `${containerOrigin?.(prefix) ?? `${spawnerUrl}/${prefix}`}/`

/** Asks for the first page of a container as programs do, with an access token in a header. @returns the status */
export async function visitContainer({ app }: { readonly app: App }, prefix: string, token: string): Promise<number> {
  const { host, pathname } = new URL(containerAddress(app, prefix))
  return (await get(app.port, pathname, { headers: { host, authorization: `Bearer ${token}` } })).status
}
