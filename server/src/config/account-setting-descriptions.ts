import { inWords, none, type SettingGroups } from './setting-description.ts'

/** Settings of accounts, sign-in and mail. */
export const accountSettings = {
  'Accounts and links': {
    SIGN_IN: {
      default: 'link,oidc',
      text: 'What the login page offers: `link` (mailed links), `oidc` (the providers of `OIDC_PROVIDERS_FILE`), or both. With `oidc` alone requests for links are refused with 403; links of invitations and of the command line still work.',
      see: 'how-to/sign-in-with-openid-connect.md',
    },
    OIDC_PROVIDERS_FILE: {
      ...none,
      text: 'Path of a JSON or YAML file: a map of provider id to [OpenID Connect provider](openid-providers.md), in the order of the login page.',
      see: 'how-to/sign-in-with-openid-connect.md',
    },
    SIGN_UP: {
      default: 'open',
      text: '`open`: any address may register. `invited`: only `ADMIN_EMAILS` and invited addresses may register.',
      see: 'how-to/control-sign-up.md',
    },
    ALLOWED_EMAIL_DOMAINS: {
      ...inWords('any'),
      text: 'Domains whose addresses may register, separated by commas: `example.org`, or `*.example.org` for all its subdomains. Existing accounts, `ADMIN_EMAILS` and invitations are not affected.',
      see: 'how-to/control-sign-up.md',
    },
    ADMIN_EMAILS: {
      ...none,
      text: 'Addresses, separated by commas, that become administrators when they sign up. The first user is an administrator in any case.',
    },
    JWT_ACCESS_TOKEN_EXPIRES: {
      default: '3600',
      text: 'Lifetime of an access token in seconds. No token lives longer than `SESSION_IDLE`, or past the end of its session.',
      see: 'how-to/set-how-long-sessions-last.md',
    },
    SESSION_IDLE: {
      default: '1209600',
      text: 'Seconds without a request after which a sign-in in a browser ends (14 days). `0`: it ends with its access token, and nothing renews it.',
      see: 'how-to/set-how-long-sessions-last.md',
    },
    SESSION_MAX: {
      default: '7776000',
      text: 'Seconds after which a sign-in in a browser ends although it is used (90 days).',
      see: 'how-to/set-how-long-sessions-last.md',
    },
    MAGIC_LINK_TOKEN_EXPIRY: {
      default: '900',
      text: 'Lifetime of a login or signup link in seconds.',
      see: 'how-to/diagnose-late-mail.md',
    },
    INVITATION_EXPIRY: {
      default: '604800',
      text: 'Lifetime of the link of an invitation in seconds.',
      see: 'how-to/control-sign-up.md',
    },
    MAGIC_LINK_RATE_LIMIT: { default: '3', text: 'Max links per e-mail address in a sliding hour.' },
    MAILBOX_RATE_LIMIT: {
      ...inWords('`100`, or ten times `MAGIC_LINK_RATE_LIMIT` if that is more'),
      text: 'Max links per mailbox in a sliding hour, at least `MAGIC_LINK_RATE_LIMIT`. Addresses that differ only in their plus tag (`ann+one@`, `ann+two@`) are two accounts and one mailbox.',
    },
    ENUMERATION_STRICT: {
      default: '0',
      text: '`1`: login also answers 429 for addresses without an account, so that the rate limit does not reveal which addresses have one. `0`: these addresses always get 200, as specified.',
    },
    REQUESTS_PER_MINUTE: {
      default: '600',
      text: 'Max requests per minute from one network address (IPv6: one /64) to sign-up, login, verification and similar endpoints that lead to no sign-in; requests for links, sign-ins by a provider and renewals of sessions are counted separately. One mailbox, and one browser in which a user signed in before, get a sixtieth of it, at least five. Programs on the same machine are exempt; a proxy there, or one in `TRUSTED_PROXIES`, is not. `0`: no limit.',
    },
    NEW_ADDRESSES_PER_HOUR: {
      default: '1000',
      text: 'Max addresses without an account per hour to which one network address (IPv6: one /64) may have a link mailed; five times as many in total. Above it the answer is the same and no mail is sent; the page System and the log report it. Addresses of `ALLOWED_EMAIL_DOMAINS` and `ADMIN_EMAILS`, invited addresses and programs on the same machine are exempt.',
    },
  },
  Mail: {
    SMTP_URL: {
      ...none,
      isSecret: true,
      text: '`smtp://` or `smtps://user:password@host:port`. Without it mails are written to `DATA_DIR/outbox` and their links to the log.',
      see: 'how-to/send-mail.md',
    },
    SMTP_TLS: {
      ...inWords('`required`, except for a server on the loopback interface'),
      text: 'For an `smtp://` server. `required`: no mail is sent without TLS (STARTTLS, with a certificate that this machine trusts). `opportunistic`: TLS is used if it is offered; an attacker on the network path can hide the offer.',
      see: 'how-to/send-mail.md',
    },
    MAIL_FROM: {
      ...inWords('`berth@{domain}`'),
      text: 'Sender of the mails: an address, or a name and an address as in `Berth <berth@example.org>`.',
    },
  },
} as const satisfies SettingGroups
