// The colour theme, which is the setting of the system or the choice of the reader.

const KEY = "aurora.theme";
const CHOICES = ["system", "light", "dark"];
const NAMES = { system: "Auto", light: "Light", dark: "Dark" };

/** Makes a button cycle through the themes. */
export function connect(button) {
  let choice = CHOICES.includes(localStorage.getItem(KEY)) ? localStorage.getItem(KEY) : "system";
  const apply = () => {
    document.documentElement.dataset.theme = choice;
    button.textContent = NAMES[choice];
    button.setAttribute("aria-label", `Colours: ${NAMES[choice]}`);
  };
  button.addEventListener("click", () => {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    localStorage.setItem(KEY, choice);
    apply();
  });
  apply();
}
