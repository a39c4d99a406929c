import { languages } from '@berth/api/boot.ts'
import { useTranslations } from 'use-intl/react'
import { chooseLanguage, useLanguage } from '#/i18n/language.ts'

/** Each language is named in its own words. */
export function LanguageSwitch() {
  const t = useTranslations('frame.language')
  const current = useLanguage()
  return (
    <div className="languages" role="group" aria-label={t('label')}>
      {languages.map((language) => (
        <button
          key={language}
          type="button"
          lang={language}
          aria-pressed={language === current}
          onClick={() => chooseLanguage(language)}
        >
          {t(language)}
        </button>
      ))}
    </div>
  )
}
