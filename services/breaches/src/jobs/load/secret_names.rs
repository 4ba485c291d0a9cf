//! Recognizes names of secrets in any language, such as `password` or `mot de passe`.
//!
//! Every reader uses this list: for column titles, names of fields, and labels in text.

use std::sync::LazyLock;

use super::folded_name::{fold, joined};

/// Names that count only as whole words, since they're also parts of other words.
const WORDS: [&str; 19] = [
    "pass",
    "passe",
    "pw",
    "pin",
    "otp",
    "totp",
    "psw",
    "pswd",
    "pwrd",
    "mdp",
    "clave",
    "sandi",
    "geslo",
    "parol",
    "parool",
    "parole",
    "гасло",
    "κωδικός",
    "암호",
];

/// Names that count anywhere in a title. Spaces are ignored.
const PARTS: [&str; 80] = [
    "password",
    "pasword",
    "passwd",
    "passwrd",
    "passphrase",
    "passcode",
    "passwort",
    "passord",
    "userpass",
    "kennwort",
    "pwd",
    "secret",
    "mot de passe",
    "contraseña",
    "contrasenya",
    "contrasinal",
    "senha",
    "palavra-passe",
    "parola",
    "wachtwoord",
    "wagwoord",
    "lösenord",
    "kodeord",
    "adgangskode",
    "lykilorð",
    "salasana",
    "salasõna",
    "hasło",
    "haslo",
    "heslo",
    "jelszó",
    "slaptažod",
    "lozink",
    "zaporka",
    "fjalëkalim",
    "şifre",
    "парол",
    "лозинк",
    "құпиясөз",
    "συνθηματικ",
    "κωδικός πρόσβασης",
    "գաղտնաբառ",
    "პაროლ",
    "סיסמ",
    "كلمة المرور",
    "كلمة مرور",
    "كلمة السر",
    "كلمة سر",
    "الرقم السري",
    "رمز عبور",
    "گذرواژه",
    "پاس ورڈ",
    "पासवर्ड",
    "कूटशब्द",
    "পাসওয়ার্ড",
    "கடவுச்சொல்",
    "รหัสผ่าน",
    "mật khẩu",
    "kata sandi",
    "kata laluan",
    "密码",
    "密碼",
    "口令",
    "通行码",
    "通行碼",
    "パスワード",
    "ぱすわーど",
    "パスコード",
    "パスフレーズ",
    "暗証番号",
    "合言葉",
    "비밀번호",
    "비번",
    "패스워드",
    "nenosiri",
    "neno la siri",
    "parolachiave",
    "tunnussana",
    "facal-faire",
    "pasahitza",
];

static FOLDED_WORDS: LazyLock<Vec<String>> =
    LazyLock::new(|| WORDS.iter().map(|name| fold(name)).collect());
static FOLDED_PARTS: LazyLock<Vec<String>> =
    LazyLock::new(|| PARTS.iter().map(|name| joined(&fold(name))).collect());

/// Returns `true` if a title suggests that its column or field contains secrets. These are never
/// read, even if the operator asks for one.
pub fn is_secret(title: &str) -> bool {
    let folded = fold(title);
    // Columns such as "secretary" do not contain secrets.
    let joined = joined(&folded).replace("secretar", "");
    folded.split(' ').any(|word| FOLDED_WORDS.iter().any(|name| name == word))
        || FOLDED_PARTS.iter().any(|name| joined.contains(name.as_str()))
}

/// Returns `true` if a phrase ends in a label for a secret, as in `your password` or `Mot de passe
/// 2`.
pub fn is_label(phrase: &str) -> bool {
    let folded = fold(phrase);
    let label = folded.trim_end_matches(|c: char| c == ' ' || c.is_ascii_digit());
    let joined = joined(label);
    label.rsplit(' ').next().is_some_and(is_secret)
        || FOLDED_PARTS.iter().any(|name| joined.ends_with(name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised_in_any_language_and_spelling() {
        for title in [
            "password",
            "Pass",
            "PWD",
            "secret",
            "User Password",
            "login_password",
            "Passwort",
            "Contraseña",
            "CONTRASEN\u{303}A",
            "pass word",
            "Pass phrase",
            "user-pass",
            "PIN",
            "client_secret",
            "Login TOTP",
            "Clave",
            "Hasło",
            "HASŁO",
            "Kullanıcı Şifresi",
            "ŞİFRE",
            "şifre",
            "lösenord",
            "jelszó",
            "Mot de passe",
            "mdp",
            "Kata sandi",
            "Mật khẩu",
            "MA\u{302}\u{323}T KHA\u{302}\u{309}U",
            "Пароль",
            "ПАРОЛЬ",
            "Κωδικός πρόσβασης",
            "ΚΩΔΙΚΟΣ ΠΡΟΣΒΑΣΗΣ",
            "Κωδικός",
            "Гасло",
            "סיסמה",
            "كلمة المرور",
            "पासवर्ड",
            "รหัสผ่าน",
            "用户密码",
            "パスワード",
            "ﾊﾟｽﾜｰﾄﾞ",
            "ＰＡＳＳＷＯＲＤ",
            "비밀번호",
        ] {
            assert!(is_secret(title) && is_label(title), "{title}");
        }
        assert!(is_secret("password_value"));
        for title in [
            "Web Site",
            "url",
            "passenger email",
            "compass",
            "enclave",
            "email",
            "spin rate",
            "secretary",
            "Логин",
            "",
        ] {
            assert!(!is_secret(title) && !is_label(title), "{title}");
        }
    }

    #[test]
    fn label_is_at_the_end_of_its_phrase() {
        for phrase in ["your password", "Password 2", "Votre mot de passe"] {
            assert!(is_label(phrase), "{phrase}");
        }
        for phrase in ["password Email", "mot de passe de Max"] {
            assert!(!is_label(phrase), "{phrase}");
        }
    }
}
