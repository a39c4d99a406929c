import { PersonalData } from '#/components/personal-data/personal-data.tsx'
import { AccountI18nProvider } from '#/i18n/account-i18n-provider.tsx'

/** What is kept about the signed-in user. */
export function YourData() {
  return (
    <AccountI18nProvider>
      <PersonalData />
    </AccountI18nProvider>
  )
}
