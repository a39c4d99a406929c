import { startPath } from '#/accounts/oidc/provider-settings.ts'
import type { Addresses, Config } from '#/config/config.ts'
import type { FrontEndParts } from '#/http/front-end/front-end-document.ts'

type FrontEndSettings = Pick<
  FrontEndParts,
  | 'linkLifetime'
  | 'signIn'
  | 'contact'
  | 'security'
  | 'branding'
  | 'sharing'
  | 'hasSnapshots'
  | 'hasGitLinks'
  | 'hasSsh'
  | 'environments'
  | 'hasContainerHosts'
>

/** What the pages say of the settings. */
export function frontEndSettings(config: Config, { frontendUrl }: Pick<Addresses, 'frontendUrl'>): FrontEndSettings {
  return {
    linkLifetime: config.magicLinkExpiry,
    signIn: {
      providers: config.providers.map(({ id, displayName }) => ({
        display_name: displayName,
        // Whole: where a browser came by another host, the provider would lead it back to the public one without its cookie.
        start: frontendUrl + startPath(id),
      })),
      email_link: config.signIn.isByLink,
    },
    contact: config.supportContact,
    security: config.securityContact === null ? null : { contact: config.securityContact, frontendUrl },
    branding: config.branding,
    sharing: sharingData(config.sharing),
    hasSnapshots: config.snapshots.isOn,
    hasGitLinks: config.openGitHosts.length > 0,
    hasSsh: config.sshListen !== null,
    environments: config.environments.mode,
    hasContainerHosts: config.containerRouting === 'subdomain',
  }
}

const sharingData = ({ isOn, withPeople, withGroups, maxDuration }: Config['sharing']) =>
  isOn ? { people: withPeople, groups: withGroups, max_seconds: maxDuration } : null
