"""Sentences about passwords that state none, by language."""

from __future__ import annotations

from typing import Final

ABOUT_PASSWORDS: Final[dict[str, str]] = {
    "English": """
the password is wrong
the password is too short
the password is stored hashed
the password is required
the password is the same as before
the password is in the vault
the password is not in the repo
password is reset via email
password: required
the password is what they forget
the password is hashed with argon2 before it is stored
the password is sent in plain text over the wire
the password is case-sensitive
the password is auto-generated on first start
the password is base64-encoded
the password is never logged
my password is not working
my password: I forgot it
my password is gone again after the update
our password policy: minimum twelve characters
the admin password is rotated every ninety days
the password is read from the environment
the password is optional when SSO is enabled
the password is user-supplied data
the password is up-to-date
Your password: (hidden)
your password: changed
Password: optional
Password: not shown
Password: see vault
Password: user-defined
the default password is documented in the README
the database password is mounted as a secret
the password is a random string of letters
the password is "too short"
the API says the password is "required"
it says that the password is 'not valid'
the password is "in the vault"
the password is "the same as before"
the label of the password is "Enter your password"
a good password is long
a good password is correct-horse-battery-staple
no password is set
which password is meant
an empty password is allowed
the password is correct, horse or not
the password is only checked client side
the password is checked against a breach list
the password is encrypted at rest
the password is kept secret
the password is known to everybody
the wifi password is on the fridge
the wifi password is printed on the router
the wifi password is written below
the wifi password is unchanged
I added the password to user-service
send the password to john-doe
reset the password to its default
we changed the password to something stronger
we set the password to expire monthly
the password was compromised last week
the password was leaked two days ago
the password field is masked
the password hint is my cat
the passphrase is required
the passphrase is asked twice
the passphrase: optional
the password is work-in-progress
the password is third-party software
the password is end-to-end encrypted
the password is one-way hashed
passwords are hashed
if the password is empty, skip login
When the password is None we prompt
password: str
password: string
  password: plain-text
password: from-env
db_password: my-secret
db password: vault-ref
the root password is locked
the keystore password is given below
the password is supposed to be secret
the password is going to change
the password is about to expire
the password is no longer accepted
the password is trimmed silently
the password is visible there
the password is displayed
the password is being reset
the password is shown once only
my password manager is Bitwarden
my password: lost
my password: forgotten
my password: expired
our passwords: everywhere
the wifi password is pretty easy
the password is pretty easy really
the password is quite long enough already
the password is common knowledge here
the password is company policy now
")[0])

""",
    "German": """
das Passwort ist falsch
das Passwort ist zu kurz
das Passwort ist gehasht gespeichert
das Passwort ist erforderlich
das Passwort ist dasselbe wie vorher
das Passwort ist im Tresor
das Passwort ist nicht im Repo
das Passwort wird per Mail zurückgesetzt
Passwort: erforderlich
Passwort: Pflichtfeld
Passwort: vergessen?
mein Passwort: vergessen
mein Passwort: abgelaufen
mein Passwort ist abgelaufen
das WLAN-Passwort ist am Kühlschrank
das WLAN-Passwort steht auf dem Router
das Passwort ist "zu kurz"
das Passwort ist „falsch“
das Passwort ist seit gestern ungültig
das Passwort ist benutzerdefiniert
das Passwort ist AES-verschlüsselt
das Passwort ist leider nicht mehr gültig
das Passwort ist Teil der Konfiguration
das Passwort ist nur Administratoren bekannt
das Passwort lautet wie immer
das Passwort lautet anders
ein gutes Passwort ist lang
ein gutes Passwort ist „richtig Pferd Batterie Heftklammer“
kein Passwort ist gesetzt
das Passwort auf der Startseite ändern
das Passwort auf den Standard zurücksetzen
das neue Passwort ist hinterlegt
das Passwort ist Groß-Klein-sensitiv
das Passwort war schon immer so
das Passwort ist uns bekannt
""",
    "French": """
le mot de passe est faux
le mot de passe est trop court
le mot de passe est haché avant stockage
le mot de passe est obligatoire
le mot de passe est le même qu'avant
le mot de passe est dans le coffre
le mot de passe n'est pas dans le dépôt
le mot de passe est réinitialisé par mail
mot de passe : obligatoire
Mot de passe : oublié ?
mon mot de passe : oublié
mon mot de passe est expiré
mon mot de passe est peut-être faux
le mot de passe est celui-ci
le mot de passe est « trop court »
le mot de passe est « incorrect »
le mot de passe est défini par l'administrateur
le mot de passe est sensible à la casse
le mot de passe du wifi est sur le frigo
le mot de passe est généré automatiquement
un bon mot de passe est long
le mot de passe est chiffré côté serveur
le mot de passe est désormais changé
le mot de passe est à changer
le mot de passe est conservé dans la base
Mot de passe : dois-je le changer
le mot de passe est-il correct
""",
    "Spanish": """
la contraseña es incorrecta
la contraseña es demasiado corta
la contraseña es obligatoria
la contraseña es la misma de antes
la contraseña está en la bóveda
la contraseña no está en el repositorio
contraseña: obligatoria
Contraseña: ¿olvidada?
mi contraseña: olvidada
mi contraseña es "incorrecta"
la contraseña es "demasiado corta"
la contraseña del wifi es la de siempre
la contraseña es sensible a mayúsculas
la contraseña es cifrada antes de guardarse
la contraseña es generada automáticamente
la contraseña es auto-generada
una buena contraseña es larga
la clave es leer bien el texto
la clave es "mantener la calma"
la clave es entender bien cada paso
cambia la contraseña a menudo
la contraseña es parte de la configuración
la contraseña es única para cada usuario
la contraseña era incorrecta
la contraseña por defecto es insegura
la contraseña es responsabilidad del usuario
""",
    "Italian": """
la password è sbagliata
la password è troppo corta
la password è obbligatoria
la password è la stessa di prima
la password è nel vault
la password non è nel repository
Password: obbligatoria
la mia password: dimenticata
la mia password è scaduta
la password è "troppo corta"
la password è «errata»
la password è salvata cifrata
la password è generata automaticamente
la password del wifi è sul frigo
una buona password è lunga
la password è auto-generata
la password è visibile a tutti
la password è stata cambiata ieri
la password è richiesta ogni volta
la password è di almeno otto caratteri
cambia la password in fretta
la password era corretta
la password è ormai nota
la password è parte della configurazione
""",
    "Portuguese": """
a senha é incorreta
a senha é muito curta
a senha é obrigatória
a senha é a mesma de antes
a senha está no cofre
a senha não está no repositório
senha: obrigatória
Senha: esquecida
minha senha: esquecida
minha senha é "incorreta"
a senha é "muito curta"
a senha do wifi é a de sempre
a senha é criptografada antes de ser salva
a senha é gerada automaticamente
a senha é auto-gerada
uma boa senha é longa
a senha é sensível a maiúsculas
a senha é parte da configuração
a senha era correta
a senha é única por usuário
altere a senha para continuar
a senha é responsabilidade do usuário
a senha é conhecida por todos
""",
    "Dutch": """
het wachtwoord is fout
het wachtwoord is te kort
het wachtwoord is verplicht
het wachtwoord is hetzelfde als eerst
het wachtwoord is in de kluis
het wachtwoord staat niet in de repo
Wachtwoord: verplicht
Wachtwoord: vergeten?
mijn wachtwoord: vergeten
mijn wachtwoord is verlopen
het wachtwoord is "te kort"
het wachtwoord is hoofdletter-gevoelig
het wachtwoord is versleuteld opgeslagen
een goed wachtwoord is lang
het wachtwoord van de wifi is op de router te vinden
het wachtwoord is automatisch gegenereerd
het wachtwoord was verkeerd
het wachtwoord is niet meer geldig
het wachtwoord is bekend bij iedereen
het wachtwoord is deel van de configuratie
het wachtwoord in de instellingen wijzigen
""",
    "Russian": """
пароль неверный
пароль: обязателен
Пароль: обязательное поле
мой пароль: забыт
пароль — "неверный"
пароль это важно
мой пароль был изменён вчера
пароль на сервере изменён
пароль — обязательное поле формы
""",
}
"""One sentence a line."""
