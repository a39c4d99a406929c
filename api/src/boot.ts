/** Languages of pages, refusals and mails. The first one is the fallback. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/**
 * Cookie with the language that the user chose; without it `Accept-Language` counts. It holds nothing secret and is
 * written by the page, so its value must be validated.
 */
export const languageCookie = 'spawner_language'

/** Announcement of the operator on every page. */
export interface Notice {
  readonly text: Readonly<Record<Language, string>>
  /** When it begins and ends (ISO 8601); null: no limit. */
  readonly from: string | null
  readonly until: string | null
}

/** How this installation presents itself. */
export interface BrandingData {
  readonly name: string | null
  /** Path of the image. */
  readonly logo: string | null
  /** Addresses or paths of the legal texts. */
  readonly imprint: string | null
  readonly privacy: string | null
  /** Those that have not ended. */
  readonly notices: readonly Notice[]
}

/** What the server knows about a navigation and tells the page inside the document, as JSON in the element `boot`. */
export interface BootData {
  /** CSRF token of the document; null without a session, also without one that a takeover replaced. */
  readonly csrf: string | null
  /** The same for signing in, where that can be done from this document. */
  readonly visit: string | null
  readonly signed_in: boolean
  /** Seconds until the token of this document expires, when its session can be renewed; null otherwise. */
  readonly token_lifetime: number | null
  /** Of the signed-in user; null without a session. Pages show it without waiting for the API. */
  readonly email: string | null
  /** Whether the signed-in person is an administrator; the API is asked all the same. */
  readonly is_admin: boolean
  readonly language: Language
  /** Whether this Berth has any group; without one, pages say nothing of groups. */
  readonly has_groups: boolean
  /** With whom users may share their containers (`SHARING`); null: pages say nothing of shares. */
  readonly sharing: { readonly people: boolean; readonly groups: boolean; readonly max_seconds: number } | null
  /** Whether users make snapshots of their homes (`SNAPSHOTS`). */
  readonly has_snapshots: boolean
  /** Whether links may bring files of Git repositories (`OPEN_GIT_HOSTS`). */
  readonly has_git_links: boolean
  /** Whether there is an SSH server (`SSH_LISTEN`); without one, pages say nothing of SSH. */
  readonly has_ssh: boolean
  /** Whether the user may build images where they administer, or manage a group (`ENVIRONMENTS`). */
  readonly has_environments: boolean
  /** Whether containers have hosts of their own (`CONTAINER_ROUTING=subdomain`), so that none has a service worker here. */
  readonly has_container_hosts: boolean
  /** Whom to ask for help (setting `SUPPORT_CONTACT`): an e-mail address, a URL, or words; null when the operator says nothing. */
  readonly contact: string | null
  /** Left out where the installation has Berth's own look. */
  readonly branding?: BrandingData
  /**
   * Takeover of this browser: who acts, and until when (ISO 8601). Without a session it has ended, and `endTakeover`
   * restores the administrator's own session, if that is still valid.
   */
  readonly acting: { readonly by: string; readonly until: string } | null
  /** Token or code of the link that this document was opened by, which is not in its address; null without one. */
  readonly link_secret: string | null
  /** This document was opened with a link that this very browser asked for, so it may be used without another press. */
  readonly asked_here: boolean
  /** When the server created this document (ISO 8601): the client's clock may be wrong. */
  readonly now: string
  /** Seconds for which a mailed link works (`MAGIC_LINK_TOKEN_EXPIRY`). */
  readonly link_lifetime: number
  /** How users sign in, in the order of the page. */
  readonly sign_in: {
    readonly providers: readonly {
      readonly display_name: string
      /** URL that begins a sign-in there; it takes `next`. */
      readonly start: string
    }[]
    /** Whether a link is mailed to who asks (`SIGN_IN`). */
    readonly email_link: boolean
  }
}
