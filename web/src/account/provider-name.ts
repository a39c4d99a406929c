import type { SignInProvider } from '#/api/boot-data.ts'

/**
 * Name of the OpenID Connect provider at which a session began, as on the login page.
 * @param began `link`, or `oidc:` and the provider's id, which stands for one that is not configured any more
 * @returns undefined when the session began by a link
 */
export function providerName(began: string, providers: readonly SignInProvider[]): string | undefined {
  const id = /^oidc:(.+)$/.exec(began)?.[1]
  return providers.find(({ start }) => start.endsWith(`/oidc/${id}/start`))?.displayName ?? id
}
