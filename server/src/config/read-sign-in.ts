import { readProviders, type Provider } from '#/accounts/oidc/provider-settings.ts'
import type { SettingName } from './setting-descriptions.ts'

/** How people sign in: at least one of the two. */
export interface WaysToSignIn {
  readonly isByLink: boolean
  readonly isByProvider: boolean
}

/**
 * `SIGN_IN` and the file of `OIDC_PROVIDERS_FILE`. Without `oidc` in the former there are no providers, but the file is
 * checked all the same.
 * @param problems gets a sentence for each problem found
 */
export function readSignIn(
  text: (name: SettingName) => string | null,
  readFile: (path: string) => string,
  problems: string[],
): { readonly signIn: WaysToSignIn; readonly providers: readonly Provider[] } {
  const signIn = waysIn(text('SIGN_IN') ?? 'link,oidc')
  const file = text('OIDC_PROVIDERS_FILE')
  const providers = readProvidersFile(file, readFile, problems)
  if (!signIn) problems.push('SIGN_IN: must be link, oidc or link,oidc')
  else if (!signIn.isByLink && file === null)
    problems.push('SIGN_IN: with oidc alone no user can sign in without OIDC_PROVIDERS_FILE; set that, or SIGN_IN=link')
  return {
    signIn: signIn ?? { isByLink: true, isByProvider: true },
    providers: signIn?.isByProvider ? providers : [],
  }
}

function waysIn(value: string): WaysToSignIn | undefined {
  const ways = value.split(',').map((way) => way.trim())
  if (ways.some((way) => way !== 'link' && way !== 'oidc')) return undefined
  return { isByLink: ways.includes('link'), isByProvider: ways.includes('oidc') }
}

/** @param file null: none is set */
function readProvidersFile(
  file: string | null,
  readFile: (path: string) => string,
  problems: string[],
): readonly Provider[] {
  if (file === null) return []
  try {
    const read = readProviders(readFile(file), `OIDC_PROVIDERS_FILE (${file})`)
    problems.push(...read.problems)
    return read.providers
  } catch (error) {
    problems.push(`OIDC_PROVIDERS_FILE: cannot read ${file}: ${(error as Error).message}`)
    return []
  }
}
